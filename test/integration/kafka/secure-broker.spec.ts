import { Admin } from '@platformatic/kafka';
import { type Account, type SecureKafka, startKafka } from '../../../scripts/servers/index.mjs';
import { createKafkaAdmin, createLanePublisher, type KafkaSettings } from '../../../src/messaging/kafka';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { revoke, right } from '../../support/topic-faults';
import { closeAll, closing, quiet, records, secureSettings, startSource, stopping } from './fixtures';

const parley = { username: 'parley', password: 'a-secret-of-ours' };

let kafka: SecureKafka;
let god: Admin;

const as = (account: Account): KafkaSettings => secureSettings(kafka, account);

const rightTo = (resource: 'TOPIC' | 'GROUP', name: string, operation: 'READ' | 'WRITE') =>
  right(parley.username, resource, name, operation);

beforeAll(async () => {
  kafka = await startKafka({ secure: true, accounts: [parley] });
  god = new Admin({
    clientId: 'test',
    bootstrapBrokers: [kafka.internalBrokers],
    sasl: { mechanism: 'SCRAM-SHA-512', ...kafka.admin },
  });
});
afterEach(() => closeAll());
afterAll(async () => {
  await god.close();
  stopping(kafka);
  await closeAll();
});

describe('with TLS, SCRAM-SHA-512 and ACLs', () => {
  it('publishes and reads under the rights of the account, and no further', async () => {
    const [topic, foreign, group] = [uniqueName('orders'), uniqueName('foreign'), uniqueName('parley')];
    await god.createTopics({ topics: [topic, foreign], partitions: 1, replicas: 1 });
    await god.createAcls({
      creations: [rightTo('TOPIC', topic, 'WRITE'), rightTo('TOPIC', topic, 'READ'), rightTo('GROUP', group, 'READ')],
    });
    const lanes = closing(createLanePublisher(as(parley), quiet, 'test'));
    await expect(lanes.send({ topic, partition: 0, records: records('a', 3) })).resolves.toMatchObject({
      baseOffset: 0n,
    });
    await expect(lanes.send({ topic: foreign, partition: 0, records: records('a', 1) })).rejects.toMatchObject({
      code: expect.stringMatching(/^(not-authorized|topic-missing)$/) as string,
      outcome: 'refused',
    });
    await lanes.send({ topic, partition: 0, records: records('b', 1) });
    const { listener, source } = startSource({ topics: [topic], group, settings: as(parley) });
    await eventually(() => listener.seen.length === 4);
    expect(listener.values).toEqual(['a0', 'a1', 'a2', 'b0']);
    expect(source.trouble).toBeUndefined();
    const seen = await closing(createKafkaAdmin(as(parley))).describeTopics([topic, foreign]);
    expect([...seen.values()]).toEqual([
      { topic, partitions: 1, replicas: 1, maxMessageBytes: undefined, keepsMs: undefined, retentionMs: undefined },
    ]);
  });

  it('fails clearly when a right is taken away, and goes on when it is given back', async () => {
    const topic = uniqueName('revoked');
    await god.createTopics({ topics: [topic], partitions: 1, replicas: 1 });
    await god.createAcls({ creations: [rightTo('TOPIC', topic, 'WRITE')] });
    const lanes = closing(createLanePublisher(as(parley), quiet, 'test'));
    await lanes.send({ topic, partition: 0, records: records('a', 1) });
    const giveBack = await revoke(god, rightTo('TOPIC', topic, 'WRITE'));
    const failure = (work: Promise<unknown>) =>
      work.then(
        () => undefined,
        (error: unknown) => error,
      );
    const code = { code: expect.stringMatching(/^(not-authorized|topic-missing)$/) as string };
    await eventually(async () => {
      expect(await failure(lanes.send({ topic, partition: 0, records: records('b', 1) }))).toMatchObject(code);
      return true;
    });
    await giveBack();
    await eventually(() => lanes.send({ topic, partition: 0, records: records('c', 1) }).then(() => true));
  });
});
