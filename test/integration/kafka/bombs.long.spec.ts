import { Producer } from '@platformatic/kafka';
import { CompressionCodecs, CompressionTypes, Kafka, logLevel } from 'kafkajs';
import { zstdCompressSync } from 'node:zlib';
import { eventually } from '../../support/eventually';
import { produce } from '../../support/kafka';
import { closeAll, committed, createTopic, settingsFor, startSource } from './fixtures';
import { REFUSED_BATCH } from '../../../src/messaging/kafka';

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

/** That the batch is handed on as one record, packed as it came and never unpacked, and that nothing around it is lost or waits. */
async function expectRefused(topic: string, reason: RegExp, send: () => Promise<void>): Promise<void> {
  await produce(topic, [{ partition: 0, value: 'before' }]);
  await send();
  await produce(topic, [{ partition: 0, value: 'behind' }]);
  const memory = watchMemory();
  const { source, listener, group } = startSource({ topics: [topic] });
  await eventually(() => listener.seen.length === 3);
  expect(memory()).toBeLessThan(400);
  const [before, refused, behind] = listener.seen;
  expect([String(before?.value), String(behind?.value)]).toEqual(['before', 'behind']);
  const bytes = refused?.value ?? Buffer.alloc(0);
  expect(String(refused?.headers[REFUSED_BATCH])).toMatch(reason);
  expect(refused).toMatchObject({ key: null, offset: (behind?.offset ?? 0n) - 1n });
  expect(Math.abs((refused?.timestamp ?? 0) - Date.now())).toBeLessThan(600_000);
  // Whole: its own length says where it ends, and its offsets are those that are passed over.
  expect(bytes.readInt32BE(8)).toBe(bytes.length - 12);
  expect(bytes.readBigInt64BE(0)).toBe((before?.offset ?? 0n) + 1n);
  await eventually(async () => (await committed(group, topic)) === (behind?.offset ?? 0n) + 1n);
  expect(source.trouble).toBeUndefined();
}

it.each<[Compression, number]>([
  ['gzip', 200],
  ['zstd', 200],
  ['lz4', 200],
])('a small batch of %s that unpacks to %i MB is never unpacked, and stops nothing', async (compression, size) => {
  const topic = await createTopic('bomb', { partitions: 1 });
  await expectRefused(topic, /larger than/, () => produceCompressed(topic, compression, [Buffer.alloc(size * MB)]));
});

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

it('a batch of empty records without number is not unpacked, either', async () => {
  const topic = await createTopic('empty', { partitions: 1 });
  const records = Array.from({ length: 300_000 }, () => Buffer.alloc(0));
  await expectRefused(topic, /300000 records/, () => produceCompressed(topic, 'zstd', records));
});

it("a batch that a transaction took back is nobody's, however large", async () => {
  const topic = await createTopic('aborted', { partitions: 1 });
  const client = new Kafka({ brokers: settingsFor().kafkaBrokers, logLevel: logLevel.NOTHING });
  const producer = client.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true });
  await producer.connect();
  const transaction = await producer.transaction();
  const messages = [{ partition: 0, value: Buffer.alloc(200 * MB) }];
  await transaction.send({ topic, compression: CompressionTypes.GZIP, messages });
  await transaction.abort();
  await producer.disconnect();
  await produce(topic, [{ partition: 0, value: 'behind' }]);
  const { listener } = startSource({ topics: [topic] });
  await eventually(() => listener.values.includes('behind'));
  expect(listener.values).toEqual(['behind']);
});
