import { Producer } from '@platformatic/kafka';
import { CompressionCodecs, CompressionTypes, Kafka, logLevel } from 'kafkajs';
import { zstdCompressSync } from 'node:zlib';
import { eventually } from '../../support/eventually';
import { produce } from '../../support/kafka';
import { closeAll, createTopic, settingsFor, startSource } from './fixtures';

type Compression = 'gzip' | 'snappy' | 'lz4' | 'zstd';
const MB = 1024 * 1024;

afterEach(() => closeAll());

async function produceCompressed(topic: string, compression: Compression, values: readonly Buffer[]): Promise<void> {
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    clientId: 'parley-test',
    bootstrapBrokers: settingsFor().kafkaBrokers,
  });
  try {
    await producer.send({ acks: -1, compression, messages: values.map((value) => ({ topic, partition: 0, value })) });
  } finally {
    await producer.close();
  }
}

/** Batches of one record each, of so many zeros: packed once, for they are all the same. */
async function produceZeros(topic: string, bytes: number, batches: number): Promise<void> {
  const codec = CompressionCodecs[CompressionTypes.ZSTD];
  let packed: Buffer | undefined;
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: ({ buffer }: { buffer: Buffer }) => Promise.resolve((packed ??= zstdCompressSync(buffer))),
  });
  try {
    const client = new Kafka({ brokers: settingsFor().kafkaBrokers, logLevel: logLevel.NOTHING });
    const producer = client.producer({ createPartitioner: () => () => 0 });
    await producer.connect();
    // One time for all, that they are the same; not an old one, or the broker's retention takes them away.
    const messages = [{ value: Buffer.alloc(bytes), timestamp: String(Date.now()) }];
    for (let n = 0; n < batches; n++) await producer.send({ topic, compression: CompressionTypes.ZSTD, messages });
    await producer.disconnect();
  } finally {
    CompressionCodecs[CompressionTypes.ZSTD] = codec as () => unknown;
  }
}

/** The most memory that this process has taken, in MB, beyond what it had. */
function watchMemory() {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
  return () => {
    clearInterval(timer);
    return (most - before) / MB;
  };
}

it.each<[Compression, number]>([
  ['gzip', 200],
  ['zstd', 200],
  ['lz4', 200],
])(
  'a small batch of %s that unpacks to %i MB stops its partition alone, and is never unpacked',
  async (compression, size) => {
    const [topic, other] = [await createTopic('bomb', { partitions: 2 }), await createTopic('other')];
    await produceCompressed(topic, compression, [Buffer.alloc(size * MB)]);
    const memory = watchMemory();
    const { source, listener } = startSource({ topics: [topic, other] });
    await eventually(() => source.trouble?.includes('larger than'));
    await produce(other, [{ value: 'flows' }]);
    await produce(topic, [{ partition: 1, value: 'beside' }]);
    await eventually(() => listener.seen.length === 2);
    expect(listener.values.toSorted()).toEqual(['beside', 'flows']);
    expect(source.state).toBe('joined');
    expect(source.trouble).toContain(`${topic}/0`);
    expect(memory()).toBeLessThan(400);
  },
);

it('many batches that each keep within the limit are taken a few at a time, all of them', async () => {
  const [topic, other] = [await createTopic('swarm'), await createTopic('other')];
  await produceZeros(topic, 50 * MB, 30);
  const memory = watchMemory();
  const { source, listener } = startSource({ topics: [topic, other] });
  // Not the records themselves: to keep them would be what fills the memory.
  const sizes = new Map<bigint, number>();
  listener.handle = async (batch) => {
    for (const { topic: from, offset, value } of batch.records) {
      if (from === topic) sizes.set(offset, value?.length ?? 0);
    }
    await batch.done(batch.records.at(-1)?.offset ?? 0n);
  };
  await eventually(() => sizes.size === 30, { timeout: 60_000 });
  expect([...new Set(sizes.values())]).toEqual([50 * MB]);
  expect(memory()).toBeLessThan(800);
  expect(source.trouble).toBeUndefined();
});

it('a batch of empty records without number stops its partition alone', async () => {
  const [topic, other] = [await createTopic('empty'), await createTopic('other')];
  await produceCompressed(
    topic,
    'zstd',
    Array.from({ length: 300_000 }, () => Buffer.alloc(0)),
  );
  const { source, listener } = startSource({ topics: [topic, other] });
  await eventually(() => source.trouble?.includes('300000 records'));
  await produce(other, [{ value: 'flows' }]);
  await eventually(() => listener.values.includes('flows'));
  expect(listener.values).toEqual(['flows']);
});
