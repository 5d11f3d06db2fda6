import { Producer } from '@platformatic/kafka';
import { CompressionCodecs, CompressionTypes, Kafka, logLevel } from 'kafkajs';
import { eventually } from '../../support/eventually';
import { produce, readAll } from '../../support/kafka';
import { closeAll, committed, createTopic, recordingLogger, settingsFor, startSource } from './fixtures';

type Compression = 'gzip' | 'snappy' | 'lz4' | 'zstd';

/** By the independent client, since partners don't use ours. */
async function produceCompressed(topic: string, compression: Compression, values: readonly (string | Buffer)[]) {
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    clientId: 'parley-test',
    bootstrapBrokers: settingsFor().kafkaBrokers,
  });
  try {
    await producer.send({
      acks: -1,
      compression,
      messages: values.map((value) => ({ topic, value: Buffer.from(value) })),
    });
  } finally {
    await producer.close();
  }
}

const original = { ...CompressionCodecs };
afterEach(async () => {
  Object.assign(CompressionCodecs, original);
  await closeAll();
});

describe('compressed batches', () => {
  it.each<Compression>(['gzip', 'snappy', 'lz4', 'zstd'])(
    'are read when a partner packs with %s',
    async (compression) => {
      const topic = await createTopic(compression);
      const values = Array.from({ length: 50 }, (_, index) => `${compression} ${index} ${'x'.repeat(index * 50)}`);
      await produceCompressed(topic, compression, values);
      await produce(topic, [{ value: 'plain' }]);
      const { listener, group } = startSource({ topics: [topic] });
      await eventually(() => listener.seen.length === 51);
      expect(listener.values).toEqual([...values, 'plain']);
      await eventually(async () => (await committed(group, topic)) === 51n);
    },
  );

  it.each([
    ['gzip', CompressionTypes.GZIP],
    ['snappy', CompressionTypes.Snappy],
    ['lz4', CompressionTypes.LZ4],
    ['zstd', CompressionTypes.ZSTD],
  ])('are packed with %s so that the broker and others can read them', async (name, compression) => {
    const topic = await createTopic(name);
    const client = new Kafka({ brokers: settingsFor().kafkaBrokers, logLevel: logLevel.NOTHING });
    const producer = client.producer({ createPartitioner: () => () => 0 });
    await producer.connect();
    await producer.send({ topic, compression, messages: [{ value: 'y'.repeat(5_000) }] });
    await producer.disconnect();
    const [record] = await readAll(topic);
    expect(String(record?.value)).toBe('y'.repeat(5_000));
  });

  it('with a codec that nobody knows stop their partition alone, with a clear error, and skip nothing', async () => {
    const topic = await createTopic('unknown', { partitions: 1 });
    const other = await createTopic('other');
    await produce(topic, [{ value: 'before' }]);
    await produceCompressed(topic, 'zstd', ['packed 1', 'packed 2']);
    await produce(topic, [{ value: 'behind' }]);
    CompressionCodecs[CompressionTypes.ZSTD] = () => {
      throw new Error('ZSTD compression not implemented');
    };
    const { logger, lines } = recordingLogger();
    const { source, listener, group } = startSource({ topics: [topic, other], logger });
    const reason = "what ends at offset 2 can't be unpacked: ZSTD compression not implemented";
    await eventually(() => source.trouble === `${topic}/0: ${reason}`);
    await produce(other, [{ value: 'flows' }]);
    await eventually(() => listener.values.includes('flows'));
    expect(listener.values).toEqual(['before', 'flows']);
    await eventually(async () => (await committed(group, topic)) === 1n);
    expect(source.state).toBe('joined');
    expect(lines.filter(({ msg }) => msg === 'joined the consumer group')).toHaveLength(1);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 50, code: 'batch-unreadable', topic, partition: 0, reason }),
    );
    Object.assign(CompressionCodecs, original);
    await eventually(() => listener.values.includes('behind'));
    expect(listener.values).toEqual(['before', 'flows', 'packed 1', 'packed 2', 'behind']);
    await eventually(() => source.trouble === undefined);
  });
});
