import type { Channel } from '../channels';
import type { InboundRecord, RecordBatch } from '../kafka';

/** Up to this offset records were fetched at this time, in ms since the epoch. */
export interface Fetched {
  upTo: bigint;
  at: number;
}

/**
 * What is left to do of one partition's fetched records. It is in one place at a time: waiting, or in the one batch that
 * this partition has outstanding.
 */
export class PartitionWork {
  /** Resolves when nothing is left to do here. */
  readonly finished: Promise<void>;
  readonly arrivedAt = Date.now();
  private readonly end: () => void;
  private next = 0;
  private settled: bigint | undefined;
  private leftOut = false;

  /** @param before what of it was fetched already and given back without an outcome */
  constructor(
    private readonly batch: RecordBatch,
    readonly channel: Channel,
    private readonly before?: Fetched | undefined,
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.finished = promise;
    this.end = resolve;
  }

  get topic(): string {
    return this.batch.topic;
  }

  get partition(): number {
    return this.batch.partition;
  }

  get remaining(): number {
    return this.batch.records.length - this.next;
  }

  /** Nothing more may be begun for it. */
  get isGone(): boolean {
    return this.batch.isStale();
  }

  /** What the next fetch is to know of this one. The earlier one counts until its records are settled: others come behind them all the time. */
  get fetched(): Fetched | undefined {
    const { before, settled } = this;
    if (before && (settled === undefined || settled < before.upTo)) return before;
    const last = this.batch.records.at(-1)?.offset;
    return last === undefined ? undefined : { upTo: last, at: this.arrivedAt };
  }

  /**
   * When the record was first fetched. The time of the first fetch stays: a look-up that takes longer than a batch is kept in
   * hand would otherwise always have begun too early for records that were given back meanwhile.
   */
  seenAt(offset: bigint): number {
    return this.before && offset <= this.before.upTo ? this.before.at : this.arrivedAt;
  }

  /** Broker's time of the oldest record without a recorded outcome, in ms since the epoch. */
  get oldestUnsettled(): number | undefined {
    const { settled } = this;
    return this.batch.records.find((record) => settled === undefined || record.offset > settled)?.timestamp;
  }

  /** Some record of it has no outcome: see {@link leaveOut}. */
  get isIncomplete(): boolean {
    return this.leftOut;
  }

  take(limit: number): readonly InboundRecord[] {
    const records = this.batch.records.slice(this.next, this.next + limit);
    this.next += records.length;
    return records;
  }

  heartbeat(): Promise<void> {
    return this.batch.heartbeat();
  }

  /** Gives what is left back to the source, which brings it again. */
  giveBack(forMs: number, reason: string): void {
    this.batch.pause(forMs, reason);
  }

  /** A record of it was left out of a batch: from here on nothing is acknowledged, or its offset would go over that record. */
  leaveOut(): void {
    this.leftOut = true;
  }

  /** Every record up to this offset has its outcome committed, unless one was left out. Stale or not: the source knows whether it may still commit. */
  async acknowledge(offset: bigint): Promise<void> {
    if (this.leftOut) return;
    this.settled = offset;
    await this.batch.done(offset);
  }

  close(): void {
    this.end();
  }
}
