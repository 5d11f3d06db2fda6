import { type Admin, Kafka, type Producer, type RecordMetadata } from './kafkajs';
import type { IHeaders, KafkaConfig } from 'kafkajs';
import { LeaderTable } from './leader-table';
import type { LaneBatch } from './types';

/** How long the leader waits for its followers. Longer than a leader election's pause is of no use: we send again. */
const ACK_TIMEOUT_MS = 5_000;
/** The client's own patience, above the broker's. */
const REQUEST_TIMEOUT_MS = ACK_TIMEOUT_MS + 2_000;

/**
 * One idempotent producer from its first connection to its end, with the admin client that finds leaders. kafkajs rolls the
 * sequence of a failed send back and gives it to the next batch, which the broker then takes for a repetition and drops:
 * after any failed send the session must be retired.
 */
export class ProducerSession {
  private readonly producer: Producer;
  private readonly admin: Admin;
  private readonly leaders: LeaderTable;
  private readonly outstanding = new Set<Promise<unknown>>();
  private connecting: Promise<void> | undefined;
  private ending: Promise<void> | undefined;

  constructor(config: KafkaConfig) {
    // Enough attempts to find a live one among the bootstrap servers; they are tried one after another.
    const bootstrapRetry = { retries: config.brokers.length + 1, initialRetryTime: 50, maxRetryTime: 1_000 };
    const client = new Kafka({ ...config, requestTimeout: REQUEST_TIMEOUT_MS, retry: bootstrapRetry });
    this.producer = client.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      retry: { retries: 1, initialRetryTime: 100, maxRetryTime: 500 },
      createPartitioner: () => (record) => {
        this.leaders.observe(record.topic, record.partitionMetadata);
        return record.message.partition ?? 0;
      },
    });
    this.admin = client.admin();
    this.leaders = new LeaderTable((topic) => this.track(this.fetchLeaders(topic)));
  }

  connect(): Promise<void> {
    this.connecting ??= this.producer.connect();
    return this.connecting;
  }

  leaderOf(topic: string, partition: number): Promise<number | undefined> {
    return this.leaders.find(topic, partition);
  }

  private async fetchLeaders(topic: string) {
    await this.admin.connect();
    const { topics } = await this.admin.fetchTopicMetadata({ topics: [topic] });
    return topics.find(({ name }) => name === topic)?.partitions ?? [];
  }

  send({ topic, partition, records }: LaneBatch): Promise<RecordMetadata[]> {
    // kafkajs' types know no null header; its patched encoder does.
    const messages = records.map((record) => ({ ...record, headers: record.headers as IHeaders, partition }));
    return this.track(this.producer.send({ topic, acks: -1, timeout: ACK_TIMEOUT_MS, messages }));
  }

  private track<T>(work: Promise<T>): Promise<T> {
    const settled = work.catch(() => undefined).finally(() => this.outstanding.delete(settled));
    this.outstanding.add(settled);
    return work;
  }

  get retired(): boolean {
    return this.ending !== undefined;
  }

  /**
   * Gives the connections back when the last outstanding call has settled. Not before: on a disconnected client kafkajs'
   * retry connects anew and sends, and nobody would close that connection.
   */
  retire(): Promise<void> {
    this.ending ??= (async () => {
      await this.connecting?.catch(() => undefined);
      while (this.outstanding.size > 0) await Promise.all(this.outstanding);
      await Promise.allSettled([this.producer.disconnect(), this.admin.disconnect()]);
    })();
    return this.ending;
  }
}
