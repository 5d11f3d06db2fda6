import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Admin, compatibilityPartitioner, Consumer, Producer } from '@platformatic/kafka';
import type { Account } from '../../scripts/servers/index.mjs';
import { eventually } from './eventually';

// An independent client: what ours gets wrong on both sides must not cancel out.

/** A record as it lies in the log. */
export interface StoredRecord {
  topic: string;
  partition: number;
  offset: bigint;
  timestamp: bigint;
  key: Buffer | null;
  value: Buffer | null;
  /** A name that comes twice has its last value. */
  headers: Record<string, Buffer | null>;
  /** All of them, in order. */
  headerList: readonly (readonly [name: string, value: Buffer | null])[];
}

export interface RecordToProduce {
  partition?: number;
  key?: string | Buffer | null;
  /** null: a tombstone. */
  value: string | Buffer | null;
  headers?: Record<string, string | Buffer>;
}

/** Where a guarded broker is, and as whom to come in. */
export interface KafkaDoor {
  brokers: string;
  caFile: string;
  account: Account;
}

/** Brokers that ask nobody who it is, or a door. Undefined: the run's own, where everything is allowed. */
export type KafkaPlace = string | KafkaDoor | undefined;

const bootstrap = (brokers = process.env['TEST_KAFKA_BROKERS']): string[] => {
  if (!brokers) throw new Error('TEST_KAFKA_BROKERS is not set: specs run under the global setup');
  return brokers.split(',');
};
const settings = (place: KafkaPlace) => ({
  clientId: 'parley-test',
  retries: 5,
  retryDelay: 200,
  ...(typeof place === 'object'
    ? {
        bootstrapBrokers: bootstrap(place.brokers),
        tls: { ca: readFileSync(place.caFile) },
        sasl: { mechanism: 'SCRAM-SHA-512' as const, ...place.account },
      }
    : { bootstrapBrokers: bootstrap(place) }),
});

/** Names that no other test uses; also valid as a partner id. */
export const uniqueName = (stem: string): string => `${stem}-${randomBytes(4).toString('hex')}`;

export interface TopicOptions {
  partitions?: number;
  replicationFactor?: number;
  config?: Record<string, string>;
  /** Other brokers than the run's. */
  brokers?: KafkaPlace;
  /** Take the name as it is instead of making it unique. */
  exact?: boolean;
}

/** Makes a topic, waits until each partition is led (the controller answers before that), and returns its name, which begins with `stem`. */
export async function createTopic(stem: string, options: TopicOptions = {}): Promise<string> {
  const topic = options.exact ? stem : uniqueName(stem);
  const configs = Object.entries(options.config ?? {}).map(([name, value]) => ({ name, value }));
  const count = options.partitions ?? 1;
  const partitions = Array.from({ length: count }, (_, partitionIndex) => ({ partitionIndex, timestamp: -1n }));
  await withAdmin(options.brokers, async (admin) => {
    await admin.createTopics({ topics: [topic], partitions: count, replicas: options.replicationFactor ?? 1, configs });
    await eventually(() => admin.listOffsets({ topics: [{ name: topic, partitions }] }), { what: `${topic} is led` });
  });
  return topic;
}

/** Deletes a topic and waits until the broker no longer lists it (the controller answers before that). */
export async function deleteTopic(topic: string, brokers?: KafkaPlace): Promise<void> {
  await withAdmin(brokers, async (admin) => {
    await admin.deleteTopics({ topics: [topic] });
    await eventually(async () => !(await admin.listTopics()).includes(topic), { what: `${topic} is gone` });
  });
}

/** Runs `work` with an admin client of the independent library and closes it. */
export async function withAdmin<T>(brokers: KafkaPlace, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new Admin(settings(brokers));
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

/** Records of a topic that the group has not committed. */
export async function unreadBy(
  group: string,
  topic: string,
  partitions: number,
  brokers?: KafkaPlace,
): Promise<number> {
  return withAdmin(brokers, async (admin) => {
    const asked = Array.from({ length: partitions }, (_, partitionIndex) => ({ partitionIndex, timestamp: -1n }));
    const [ends] = await admin.listOffsets({ topics: [{ name: topic, partitions: asked }] });
    const groups = await admin.listConsumerGroupOffsets({ groups: [{ groupId: group }] });
    const commits = groups
      .flatMap(({ topics }) => topics)
      .filter(({ name }) => name === topic)
      .flatMap((of) => of.partitions);
    const next = (index: number) =>
      commits.find(({ partitionIndex }) => partitionIndex === index)?.committedOffset ?? 0n;
    return (ends?.partitions ?? []).reduce(
      (sum, { partitionIndex, offset }) => sum + Number(offset - next(partitionIndex)),
      0,
    );
  });
}

/** Writes records in order, acks=all. Without a partition the key decides, as in Java. */
export async function produce(topic: string, records: readonly RecordToProduce[], brokers?: KafkaPlace): Promise<void> {
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    ...settings(brokers),
    partitioner: compatibilityPartitioner,
  });
  const bytes = (value: string | Buffer) => Buffer.from(value);
  try {
    await producer.send({
      acks: -1,
      messages: records.map(({ partition, key, value, headers }) => ({
        topic,
        ...(partition === undefined ? {} : { partition }),
        ...(key === undefined || key === null ? {} : { key: bytes(key) }),
        ...(value === null ? {} : { value: bytes(value) }),
        headers: new Map(Object.entries(headers ?? {}).map(([name, text]) => [bytes(name), bytes(text)])),
      })),
    });
  } finally {
    await producer.close();
  }
}

/** Every record that the topic holds now, by partition and offset. Joins no group. */
export async function readAll(topic: string, brokers?: KafkaPlace): Promise<StoredRecord[]> {
  const consumer = new Consumer({ ...settings(brokers), groupId: uniqueName('reader') });
  try {
    const metadata = (await consumer.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic);
    if (!metadata) throw new Error(`no topic ${topic}`);
    const starts = (await consumer.listOffsets({ topics: [topic], timestamp: -2n })).get(topic) ?? [];
    const ends = (await consumer.listOffsets({ topics: [topic], timestamp: -1n })).get(topic) ?? [];
    const records: StoredRecord[] = [];
    for (const [partition, { leader }] of metadata.partitions.entries()) {
      const end = ends[partition] ?? 0n;
      let next = starts[partition] ?? 0n;
      while (next < end) {
        const page = await fetchPage(consumer, { node: leader, topic, topicId: metadata.id, partition, from: next });
        records.push(...page.records.filter((record) => record.offset < end));
        next = page.next;
      }
    }
    return records;
  } finally {
    await consumer.close();
  }
}

interface Page {
  node: number;
  topic: string;
  topicId: string;
  partition: number;
  from: bigint;
}

async function fetchPage(consumer: Consumer, page: Page): Promise<{ records: StoredRecord[]; next: bigint }> {
  const { node, topic, topicId, partition, from } = page;
  const request = {
    partition,
    fetchOffset: from,
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
    partitionMaxBytes: 8 << 20,
  };
  const answer = await consumer.fetch({
    node,
    minBytes: 1,
    maxBytes: 16 << 20,
    maxWaitTime: 500,
    topics: [{ topicId, partitions: [request] }],
  });
  const batches = answer.responses[0]?.partitions[0]?.records ?? [];
  const records: StoredRecord[] = [];
  let next = from;
  for (const batch of batches) {
    next = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n;
    for (const record of batch.records) {
      const offset = batch.firstOffset + BigInt(record.offsetDelta);
      // A fetch answers with whole batches: the first may begin before the offset asked for.
      if (offset < from) continue;
      const headers = record.headers.map(([name, value]) => [String(name), value] as const);
      const timestamp = batch.firstTimestamp + record.timestampDelta;
      const { key, value } = record;
      records.push({
        ...{ topic, partition, offset, timestamp, key, value },
        headers: Object.fromEntries(headers),
        headerList: headers,
      });
    }
  }
  return { records, next };
}

/** What the broker said against something, by the protocol's names; where it said nothing, the error's message. */
export const refusalsIn = (error: unknown): string[] => [...new Set(idsIn(error))];

function idsIn(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 8) return ['not an error'];
  const { apiId, errors = [] } = error as { apiId?: string; errors?: unknown[] };
  if (apiId) return [apiId];
  const inner = [...errors, ...(error.cause ? [error.cause] : [])];
  return inner.length > 0 ? inner.flatMap((one) => idsIn(one, depth + 1)) : [error.message];
}
