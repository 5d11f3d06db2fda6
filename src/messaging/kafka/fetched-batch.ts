import { messageOf } from '../../platform/errors';
import { type EachBatchPayload, KafkaJSError, type KafkaMessage } from './kafkajs';
import type { InboundRecord, RecordBatch } from './types';

/** What a batch needs of the membership under which it was fetched. */
export interface Membership {
  /** See {@link RecordBatch.generation}. */
  readonly generation: number;
  /** Still the same generation of the group, and the partition ours in it? */
  isCurrent(): boolean;
  isClosing(): boolean;
  /** Registers the next offset to read for the next commit. */
  commit(next: bigint): void;
  pause(ms: number, reason: string): void;
}

/** One batch on its way through `onBatch`. Lives until its delivery ends. */
export class FetchedBatch implements RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly InboundRecord[];
  readonly highWatermark: bigint;
  /** kafkajs' own error from a heartbeat; it must leave `eachBatch`, for it steers the rejoin. */
  lost: KafkaJSError | undefined;
  private doneUpTo = -1n;
  private givenBack = false;

  constructor(
    private readonly payload: EachBatchPayload,
    private readonly membership: Membership,
  ) {
    const { topic, partition, messages, highWatermark } = payload.batch;
    this.topic = topic;
    this.partition = partition;
    this.highWatermark = BigInt(highWatermark);
    this.records = messages.map((message) => toRecord(topic, partition, message));
  }

  get generation(): number {
    return this.membership.generation;
  }

  get complete(): boolean {
    const last = this.records.at(-1);
    return last === undefined || this.doneUpTo >= last.offset;
  }

  isStale(): boolean {
    return this.givenBack || !!this.lost || this.membership.isClosing() || !this.membership.isCurrent();
  }

  async heartbeat(): Promise<void> {
    if (this.lost) return;
    try {
      await this.payload.heartbeat();
    } catch (error) {
      // Anything else would count as a bug in `eachBatch` and end the client for good.
      this.lost = error instanceof KafkaJSError ? error : new KafkaJSError(messageOf(error));
    }
  }

  done(offset: bigint): Promise<void> {
    const last = this.records.at(-1);
    if (last === undefined || offset > last.offset) {
      return Promise.reject(new RangeError(`Offset ${offset} is not in the batch.`));
    }
    if (offset > this.doneUpTo && this.membership.isCurrent()) {
      this.doneUpTo = offset;
      this.payload.resolveOffset(String(offset));
      // Behind the last record there may be control records, which nobody sees and nobody would ever commit.
      const next = offset === last.offset ? BigInt(this.payload.batch.lastOffset()) : offset;
      this.membership.commit(next + 1n);
    }
    return Promise.resolve();
  }

  pause(ms: number, reason: string): void {
    this.givenBack = true;
    this.membership.pause(ms, reason);
  }
}

function toRecord(topic: string, partition: number, message: KafkaMessage): InboundRecord {
  return {
    topic,
    partition,
    offset: BigInt(message.offset),
    timestamp: Number(message.timestamp),
    key: message.key,
    value: message.value,
    headers: message.headers ?? {},
  };
}
