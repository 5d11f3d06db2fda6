import { createKafkaAdmin } from '../../../src/messaging/kafka';
import { produce, uniqueName, withAdmin } from '../../support/kafka';
import { eventually } from '../../support/eventually';
import { closeAll, closing, committed, createTopic, settingsFor, startSource } from './fixtures';

const admin = (brokers?: string) => closing(createKafkaAdmin(settingsFor(brokers)));

afterEach(closeAll);

describe('the Kafka administration', () => {
  it('creates what is missing as planned, never alters what is there, and describes both', async () => {
    const there = await createTopic('there', {
      partitions: 2,
      config: { 'max.message.bytes': '5000', 'retention.ms': '-1' },
    });
    const compacted = await createTopic('compacted', {
      partitions: 1,
      config: { 'max.message.bytes': '5000', 'retention.ms': '3600000', 'cleanup.policy': 'compact' },
    });
    const [planned, absent] = [uniqueName('planned'), uniqueName('absent')];
    const kafka = admin();
    const plan = {
      replicationFactor: 1,
      partitions: 7,
      config: {
        'max.message.bytes': '123456',
        'cleanup.policy': 'delete',
        'retention.ms': '3600000',
        'segment.ms': '600000',
      },
    };
    const plans = [
      { ...plan, topic: there },
      { ...plan, topic: planned },
    ];
    expect(await kafka.ensureTopics(plans)).toEqual([planned]);
    expect(await kafka.ensureTopics(plans)).toEqual([]);
    expect(await kafka.describeTopics([there, planned, compacted, absent])).toEqual(
      new Map([
        [
          there,
          { topic: there, partitions: 2, replicas: 1, maxMessageBytes: 5000, keepsMs: Infinity, retentionMs: Infinity },
        ],
        [
          planned,
          {
            topic: planned,
            partitions: 7,
            replicas: 1,
            maxMessageBytes: 123456,
            keepsMs: 4_200_000,
            retentionMs: 3_600_000,
          },
        ],
        [
          compacted,
          {
            topic: compacted,
            partitions: 1,
            replicas: 1,
            maxMessageBytes: 5000,
            keepsMs: Infinity,
            retentionMs: Infinity,
          },
        ],
      ]),
    );
    expect(await kafka.existing([there, absent])).toEqual(new Set([there]));
    expect(await withAdmin(undefined, (independent) => independent.listTopics())).not.toContain(absent);
  });

  it('resolves when what it created can be used at once', async () => {
    const kafka = admin();
    for (let round = 0; round < 5; round++) {
      const topic = uniqueName('ready');
      await kafka.ensureTopics([{ topic, partitions: 60, replicationFactor: 1 }]);
      expect((await kafka.describeTopics([topic])).get(topic)?.partitions).toBe(60);
      expect((await kafka.endOffsets(topic)).size).toBe(60);
    }
  });

  it('creates a topic once though several ask at the same time', async () => {
    const topic = uniqueName('raced');
    const plan = [{ topic, partitions: 3, replicationFactor: 1 }];
    const created = await Promise.all(Array.from({ length: 5 }, () => admin().ensureTopics(plan)));
    expect(created.flat()).toEqual([topic]);
  });

  it('tells where each partition ends', async () => {
    const topic = await createTopic('ends', { partitions: 3 });
    await produce(topic, [{ partition: 1, value: 'a' }]);
    await produce(topic, [{ partition: 1, value: 'b' }]);
    const kafka = admin();
    expect(await kafka.endOffsets(topic)).toEqual(
      new Map([
        [0, 0n],
        [1, 2n],
        [2, 0n],
      ]),
    );
    await expect(kafka.endOffsets(uniqueName('absent'))).rejects.toMatchObject({ code: 'topic-missing' });
  });

  it('tells how far a group has come in every partition, and leaves out what is missing', async () => {
    const [read, unread, absent] = [
      await createTopic('read', { partitions: 2 }),
      await createTopic('unread'),
      uniqueName('absent'),
    ];
    await produce(read, [
      { partition: 1, value: 'a' },
      { partition: 1, value: 'b' },
    ]);
    await produce(unread, [{ value: 'a' }]);
    const { group, source } = startSource({ topics: [read] });
    await eventually(async () => (await committed(group, read, 1)) === 2n);
    await source.close();
    await produce(read, [{ partition: 1, value: 'c' }]);
    const kafka = admin();
    expect(await kafka.groupProgress(group, [read, unread, absent])).toEqual(
      new Map([
        [
          read,
          new Map([
            [0, { start: 0n, end: 0n, committed: null }],
            [1, { start: 0n, end: 3n, committed: 2n }],
          ]),
        ],
        [unread, new Map([[0, { start: 0n, end: 1n, committed: null }]])],
      ]),
    );
    expect(await kafka.groupProgress(uniqueName('nobody'), [unread])).toEqual(
      new Map([[unread, new Map([[0, { start: 0n, end: 1n, committed: null }]])]]),
    );
    expect(await kafka.groupProgress(group, [absent])).toEqual(new Map());
  });

  it('says what the broker has against a plan', async () => {
    const topic = uniqueName('refused');
    const kafka = admin();
    await expect(kafka.ensureTopics([{ topic, partitions: 1, replicationFactor: 9 }])).rejects.toMatchObject({
      code: 'replication-factor-invalid',
      retriable: false,
      message: expect.stringContaining(`create topic ${topic}`) as string,
    });
    const config = { 'max.message.bytes': 'many' };
    await expect(kafka.ensureTopics([{ topic, partitions: 1, replicationFactor: 1, config }])).rejects.toMatchObject({
      code: 'topic-config-invalid',
    });
  });

  it('says when no broker answers', async () => {
    const asked = admin('127.0.0.1:1').existing(['any']);
    await expect(asked).rejects.toMatchObject({ code: 'broker-unreachable', retriable: true });
  });
});
