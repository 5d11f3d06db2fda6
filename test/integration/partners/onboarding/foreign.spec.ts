import 'reflect-metadata';
import type { Acl } from '../../../../src/messaging/kafka';
import type { PartnerFile } from '../../../../src/partners';
import { Retirement, Rotation } from '../../../../src/partners/accounts';
import { systemClock } from '../../../../src/platform/clock';
import { uniqueName } from '../../../support/kafka';
import { ONBOARDER } from '../../../support/partners';
import { openRoom, type Room } from './guarded';

let room: Room;

beforeAll(async () => {
  room = await openRoom();
});
afterAll(() => room.close());

const withCertificate = (subject: string, partner = uniqueName('acme')): PartnerFile => ({
  ...{ partner, format: 'json', partitions: 1, quotas: { producerBytesPerSecond: 1 } },
  authentication: { type: 'tls', subject },
});
const certificate = () => `CN=${uniqueName('billing')}`;
const THEIRS = { producerByteRate: 4711 };

const mayRead = (username: string, topic: string): Acl => ({
  ...{ principal: `User:${username}`, resource: 'topic', name: topic, pattern: 'literal' },
  ...{ operation: 'Read', permission: 'allow', host: '*' },
});

describe('what somebody else has at the broker', () => {
  it('keeps its limit when a partner is onboarded under its name, with another file, and when that account ends', async () => {
    const [first, second] = [certificate(), certificate()];
    const file = withCertificate(first);
    const { partner } = file;
    await room.security.putQuota(first, THEIRS);
    await room.security.putQuota(second, THEIRS);
    expect(await room.planned(file)).toContain(
      `! quota ${first} is there and was not made by Parley: kept as it is; producerByteRate is 4711, and would be 1; consumerByteRate is not set, and would be 8388608; requestPercentage is not set, and would be 100`,
    );
    await room.apply(file);
    await room.apply({ ...file, quotas: { producerBytesPerSecond: 2 } });
    expect(await room.security.quota(first)).toEqual(THEIRS);
    const right = mayRead(second, `orders.${partner}.request.v1`);
    await room.security.addAcls([right]);
    const rotation = new Rotation(room.database, room.security, systemClock, room.config);
    await rotation.rotate({ partner, subject: second }, ONBOARDER, () => Promise.resolve());
    expect(await room.security.quota(second)).toEqual(THEIRS);
    const retirement = new Retirement(room.database, room.security, systemClock);
    await retirement.retire(partner, first, ONBOARDER);
    expect(await room.security.quota(first)).toEqual(THEIRS);
    await rotation.rotate({ partner, subject: certificate() }, ONBOARDER, () => Promise.resolve());
    await retirement.retire(partner, second, ONBOARDER);
    expect(await room.security.quota(second)).toEqual(THEIRS);
    expect(await room.security.acls({ principal: right.principal })).toEqual([right]);
  });

  it.each([
    ['a user of that name', (name: string) => room.security.putUser({ username: name, password: 'of-somebody-else' })],
    ['rights on other topics', (name: string) => room.security.addAcls([mayRead(name, 'ledger.v1')])],
  ])('is not taken for the certificate of a partner: %s', async (_, make) => {
    const name = uniqueName('billing');
    await make(name);
    const file = withCertificate(name);
    expect(await room.planned(file)).toContainEqual(expect.stringContaining(`! user ${name} `) as string);
    await expect(room.apply(file)).rejects.toMatchObject({ code: 'account-foreign' });
    expect(await room.security.quota(name)).toEqual({});
    expect(await room.admin.existing([`orders.${file.partner}.request.v1`])).toEqual(new Set());
  });
});
