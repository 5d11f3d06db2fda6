import 'reflect-metadata';
import { type PartnerFile, specOf } from '../../../../src/partners';
import { strimziFor, type StrimziResource } from '../../../../src/partners/onboarding';
import { Accounts } from '../../../../src/partners/accounts';
import { uniqueName } from '../../../support/kafka';
import { ONBOARDER } from '../../../support/partners';
import { hearing, openRoom, type Room } from './guarded';

let room: Room;

beforeAll(async () => {
  room = await openRoom();
});
afterAll(() => room.close());

const fileOf = (): PartnerFile => ({ partner: uniqueName('acme'), format: 'json', partitions: 1 });
const by = (file: PartnerFile, subject: string): PartnerFile => ({ ...file, authentication: { type: 'tls', subject } });
const elsewhere = (file: PartnerFile) => room.elsewhere().apply(specOf(file, room.config), ONBOARDER);

const accountsOf = async (partner: string): Promise<Record<string, string>> =>
  Object.fromEntries((await new Accounts(room.database).of(partner)).map(({ username, state }) => [username, state]));

const emitted = async (file: PartnerFile): Promise<StrimziResource[]> =>
  (await strimziFor(room.database, room.config, specOf(file, room.config), 'kafka')).filter(
    ({ kind, metadata }) => kind === 'KafkaUser' && metadata.name !== room.config.kafkaSaslUsername,
  );
const typesOf = async (file: PartnerFile): Promise<Record<string, unknown>> =>
  Object.fromEntries(
    (await emitted(file)).map(({ metadata, spec }) => [
      metadata.name,
      (spec['authentication'] as { type: string }).type,
    ]),
  );

describe('a partner whose accounts others make', () => {
  it('is handed over with the account that comes next beside those that it has, each of its kind', async () => {
    const file = fileOf();
    const { partner } = file;
    const name = uniqueName('acme');
    expect(await typesOf(file)).toEqual({ [`${partner}.1`]: 'scram-sha-512' });
    await room.apply(file);
    expect(await typesOf(file)).toEqual({ [`${partner}.1`]: 'scram-sha-512' });
    const changed = by(file, `CN=${name}`);
    const both = { [`${partner}.1`]: 'scram-sha-512', [name]: 'tls-external' };
    expect(await typesOf(changed)).toEqual(both);
    await elsewhere(changed);
    expect(await accountsOf(partner)).toEqual({ [`${partner}.1`]: 'retiring', [`CN=${name}`]: 'active' });
    expect(await typesOf(changed)).toEqual(both);
  });

  it("is not handed over with another partner's certificate", async () => {
    const [file, other] = [fileOf(), fileOf()];
    const subject = `CN=${uniqueName('acme')}`;
    await room.apply(by(file, subject));
    await expect(emitted(by(other, subject))).rejects.toMatchObject({
      code: 'account-exists',
      message: expect.stringContaining(`belongs to the partner ${file.partner}`) as string,
      hint: expect.stringContaining(other.partner) as string,
    });
  });

  it('is gone on with where an onboarding of ours was broken off', async () => {
    const file = fileOf();
    const dying = room
      .onboarder(
        hearing((moment) => {
          if (moment === 'putUser after') throw new Error('died');
        }),
      )
      .apply(specOf(file, room.config), ONBOARDER);
    await expect(dying).rejects.toThrow('died');
    expect(await accountsOf(file.partner)).toEqual({ [`${file.partner}.1`]: 'creating' });
    await elsewhere(file);
    expect(await accountsOf(file.partner)).toEqual({ [`${file.partner}.1`]: 'active' });
  });
});
