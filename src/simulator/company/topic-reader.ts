import { setTimeout as delay } from 'node:timers/promises';
import { Consumer } from '@platformatic/kafka';
import { brokerWords } from '../broker-error';
import type { Connection } from '../connection';

/** A record as it was read. */
export interface ReadRecord {
  topic: string;
  partition: number;
  offset: bigint;
  key: Buffer | null;
  value: Buffer | null;
  /** A name that comes twice has its last value. */
  headers: Readonly<Record<string, Buffer>>;
}

interface Lane {
  topic: string;
  topicId: string;
  partition: number;
  leader: number;
}

const WAIT_MS = 250;

/**
 * Reads topics from where they end when it starts, as a member of no group: whoever may read a topic may do so, nothing is
 * committed, and nobody else's reading is moved.
 */
export class TopicReader {
  private readonly consumer: Consumer;
  /** What is read next, by topic and partition. */
  private readonly next = new Map<string, bigint>();
  private lanes: Lane[] = [];
  private running: Promise<void> | undefined;
  private stopping = false;

  constructor(
    connection: Connection,
    private readonly topics: readonly string[],
    private readonly onRecords: (records: readonly ReadRecord[]) => Promise<void>,
    private readonly log: (line: string) => void,
  ) {
    // The client wants the name of a group, and joins it only when it is asked to consume.
    this.consumer = new Consumer({ ...connection, groupId: 'none', retries: 1 });
    this.consumer.on('error', () => undefined);
  }

  /** Resolves when it is settled where each partition is read from: what is written from then on is heard. */
  async start(): Promise<void> {
    await this.find();
    const ends = await this.consumer.listOffsets({ topics: [...this.topics], timestamp: -1n });
    for (const { topic, partition } of this.lanes)
      this.next.set(`${topic}/${partition}`, ends.get(topic)?.[partition] ?? 0n);
    this.running = this.run();
  }

  /** How many partitions it has. Rejects where there is no such topic. */
  async partitionsOf(topic: string): Promise<number> {
    const metadata = await this.consumer.metadata({ topics: [topic] });
    const partitions = metadata.topics.get(topic)?.partitions.length ?? 0;
    if (partitions === 0) throw new Error(`${topic} has no partitions`);
    return partitions;
  }

  async close(): Promise<void> {
    this.stopping = true;
    await this.running;
    await this.consumer.close().catch(() => undefined);
  }

  private async find(): Promise<void> {
    const { topics } = await this.consumer.metadata({ topics: [...this.topics], forceUpdate: true });
    this.lanes = [...topics].flatMap(([topic, { id, partitions }]) =>
      partitions.map(({ leader }, partition) => ({ topic, topicId: id, partition, leader })),
    );
  }

  private async run(): Promise<void> {
    for (let failures = 0; !this.stopping;) {
      try {
        if (failures > 0) await this.find();
        const byLeader = Map.groupBy(this.lanes, ({ leader }) => leader);
        await Promise.all([...byLeader].map(([node, lanes]) => this.fetch(node, lanes)));
        failures = 0;
      } catch (error) {
        if (this.stopping) return;
        if (failures++ === 0) this.log(`nothing read for now (${brokerWords(error)}), trying again`);
        await delay(Math.min(200 * failures, 2000));
      }
    }
  }

  private async fetch(node: number, lanes: readonly Lane[]): Promise<void> {
    const topics = [...Map.groupBy(lanes, ({ topicId }) => topicId)].map(([topicId, own]) => ({
      topicId,
      partitions: own.map(({ topic, partition }) => ({
        partition,
        fetchOffset: this.next.get(`${topic}/${partition}`) ?? 0n,
        currentLeaderEpoch: -1,
        lastFetchedEpoch: -1,
        partitionMaxBytes: 4 << 20,
      })),
    }));
    const answer = await this.consumer.fetch({ node, minBytes: 1, maxBytes: 16 << 20, maxWaitTime: WAIT_MS, topics });
    for (const { topicId, partitions } of answer.responses) {
      const topic = lanes.find((lane) => lane.topicId === topicId)?.topic;
      for (const { partitionIndex, records: batches } of partitions) {
        if (topic !== undefined) await this.hand(topic, partitionIndex, batches ?? []);
      }
    }
  }

  private async hand(
    topic: string,
    partition: number,
    batches: NonNullable<FetchedPartition['records']>,
  ): Promise<void> {
    const lane = `${topic}/${partition}`;
    const from = this.next.get(lane) ?? 0n;
    const records: ReadRecord[] = [];
    let next = from;
    for (const { firstOffset, lastOffsetDelta, records: own } of batches) {
      for (const { offsetDelta, key, value, headers } of own) {
        const offset = firstOffset + BigInt(offsetDelta);
        // A fetch answers with whole batches: the first may begin before what was asked for.
        if (offset >= from) records.push({ topic, partition, offset, key, value, headers: named(headers) });
      }
      next = firstOffset + BigInt(lastOffsetDelta) + 1n;
    }
    if (records.length > 0) await this.onRecords(records);
    this.next.set(lane, next);
  }
}

function named(headers: Iterable<readonly [Buffer | null, Buffer | null]>): Record<string, Buffer> {
  const pairs = [...headers].flatMap(([name, value]) => (name && value ? [[String(name), value] as const] : []));
  return Object.fromEntries(pairs);
}

type FetchedPartition = Awaited<ReturnType<Consumer['fetch']>>['responses'][number]['partitions'][number];
