import 'reflect-metadata';
import type { PartnerFile } from '../../../../src/partners';
import { specOfPartner } from '../../../../src/partners/onboarding';
import { uniqueName } from '../../../support/kafka';
import { openRoom, type Room } from './guarded';

let room: Room;

beforeAll(async () => {
  room = await openRoom();
});
afterAll(() => room.close());

const fileOf = (more: Partial<PartnerFile> = {}): PartnerFile => ({
  ...{ partner: uniqueName('acme'), format: 'json', partitions: 1 },
  ...more,
});

describe('what an onboarding leaves although the file says otherwise', () => {
  it('is the number of copies, and how many of them must have a record where there are fewer', async () => {
    const file = fileOf();
    const topic = `orders.${file.partner}.request.v1`;
    await room.apply(file);
    const more: PartnerFile = { ...file, topics: { replicationFactor: 3, retentionHours: 24 } };
    expect(await room.planned(more)).toEqual(
      expect.arrayContaining([
        `~ topic ${topic} retention.ms 604800000 → 86400000`,
        `! topic ${topic} has 1 copy of each partition, not 3: change that with kafka-reassign-partitions.sh; min.insync.replicas is 1, and becomes 2 once there are as many`,
      ]),
    );
    await room.apply(more);
    const options = await room.security.topicOptions([topic], ['min.insync.replicas', 'retention.ms']);
    expect(options.get(topic)).toMatchObject({
      'min.insync.replicas': { value: '1' },
      'retention.ms': { value: '86400000' },
    });
    expect((await room.planned(more)).filter((line) => !line.startsWith('! topic '))).toEqual([]);
    expect(await room.planned(more)).toContainEqual(expect.stringContaining(`! topic ${topic} has 1 copy`) as string);
  });

  it('is the certificate of a file of before', async () => {
    const file = fileOf();
    const { partner } = file;
    const [first, second] = [`CN=${uniqueName('acme')}`, `CN=${uniqueName('acme')}`];
    const by = (subject: string, name = 'Acme'): PartnerFile => ({
      ...{ ...file, name, authentication: { type: 'tls', subject } },
    });
    await room.apply(by(first));
    await room.apply(by(second));
    const note = `! user ${first} is retiring, and new clients get ${second}: say that one in the file; for another certificate: parley partner rotate ${partner} --subject …`;
    expect(await room.planned(by(first))).toEqual([note]);
    await room.apply(by(first, 'Acme Ltd'));
    expect(await room.planned(by(first, 'Acme Ltd'))).toEqual([note]);
    expect(await room.planned(by(second, 'Acme Ltd'))).toEqual([]);
    expect((await specOfPartner(room.database, partner))?.authentication).toEqual({ type: 'tls', subject: second });
  });
});
