import { Admin } from '@platformatic/kafka';
import { readFileSync } from 'node:fs';
import { type SecureKafka, startKafka, startKafkaCluster } from '../../../scripts/servers/index.mjs';
import { Kafka, logLevel } from '../../../src/messaging/kafka/kafkajs';
import { eventually } from '../../support/eventually';
import { atEnd } from '../../support/faults';
import { createTopic, produce, readAll, withAdmin } from '../../support/kafka';
import { fillLag, makeReadOnly, removeTopic, revoke, right, setOnTopic } from '../../support/topic-faults';

const valuesOf = async (topic: string) => (await readAll(topic)).map(({ value }) => String(value));

describe('a topic', () => {
  it('has a setting of its own as long as the fault lasts', async () => {
    const topic = await createTopic('small');
    const heal = await setOnTopic(topic, 'max.message.bytes', '200');
    await expect(produce(topic, [{ value: 'x'.repeat(500) }])).rejects.toThrow();
    await heal();
    await produce(topic, [{ value: 'x'.repeat(500) }]);
  });

  it('that was removed comes back empty, with its partitions and settings', async () => {
    const topic = await createTopic('removed', { partitions: 3, config: { 'max.message.bytes': '4000' } });
    await produce(topic, [{ partition: 2, value: 'gone' }]);
    const heal = await removeTopic(topic);
    await expect(produce(topic, [{ partition: 2, value: 'nowhere' }])).rejects.toThrow();
    await heal();
    expect(await valuesOf(topic)).toEqual([]);
    await produce(topic, [{ partition: 2, value: 'x'.repeat(3000) }]);
    await expect(produce(topic, [{ partition: 2, value: 'x'.repeat(5000) }])).rejects.toThrow();
    const partitions = await withAdmin(undefined, async (admin) => (await admin.metadata({ topics: [topic] })).topics);
    expect(partitions.get(topic)?.partitionsCount).toBe(3);
  });

  it('is filled with what nobody has read', async () => {
    const topic = await createTopic('lag', { partitions: 2 });
    await fillLag(topic, 1203, (n) => ({ partition: n % 2, key: `k${n}`, value: String(n) }));
    expect(new Set(await valuesOf(topic)).size).toBe(1203);
  });
});

describe('a topic of a cluster', () => {
  it('takes nothing while it is read-only, while others flow, and takes records again when healed', async () => {
    const cluster = await startKafkaCluster();
    atEnd(() => cluster.stop());
    const { brokers } = cluster;
    const [topic, other] = await Promise.all(
      ['guarded', 'free'].map((stem) => createTopic(stem, { replicationFactor: 3, brokers })),
    );
    const write = (to: string | undefined) => produce(to ?? '', [{ value: 'x' }], brokers).then(() => true);
    await write(topic);
    const heal = await makeReadOnly(topic ?? '', cluster);
    await eventually(() => write(other));
    await expect(write(topic)).rejects.toThrow();
    await heal();
    await eventually(() => write(topic));
  });
});

describe('a right', () => {
  const acme = { username: 'acme', password: 'acme-secret' };
  let kafka: SecureKafka;
  let admin: Admin;
  beforeAll(async () => {
    kafka = await startKafka({ secure: true, accounts: [acme] });
    atEnd(() => kafka.stop());
    const sasl = { mechanism: 'SCRAM-SHA-512' as const, ...kafka.admin };
    admin = new Admin({ clientId: 'test', bootstrapBrokers: [kafka.internalBrokers], sasl });
    atEnd(() => admin.close());
  });

  it('is taken away and given back', async () => {
    await admin.createTopics({ topics: ['guarded'], partitions: 1, replicas: 1 });
    const write = right(acme.username, 'TOPIC', 'guarded', 'WRITE');
    await admin.createAcls({ creations: [write] });
    // Not the client of the administrator: where the broker cuts a refused client short, it ends the process.
    const client = new Kafka({
      clientId: 'test',
      brokers: [kafka.brokers],
      sasl: { mechanism: 'scram-sha-512', ...acme },
      ssl: { ca: readFileSync(kafka.caFile) },
      retry: { retries: 0 },
      logLevel: logLevel.NOTHING,
    });
    const producer = client.producer({ allowAutoTopicCreation: false });
    const send = () =>
      producer.send({ acks: -1, topic: 'guarded', messages: [{ partition: 0, value: Buffer.from('x') }] }).then(
        () => 'written',
        () => 'refused',
      );
    await producer.connect();
    await eventually(async () => (await send()) === 'written');
    const heal = await revoke(admin, write);
    await eventually(async () => (await send()) === 'refused');
    await heal();
    await eventually(async () => (await send()) === 'written');
    await producer.disconnect();
  });
});
