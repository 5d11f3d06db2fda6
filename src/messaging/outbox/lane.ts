import { backoffMs } from '../../platform/polling';
import type { QueuedRow } from './queued-row';

/** Kafka's trial optimum: larger batches gained nothing and made a lost acknowledgement dearer. */
const MOST_RECORDS = 500;
const MOST_BYTES = 800_000;
/** What Kafka takes when a topic says nothing else (`message.max.bytes`). */
const DEFAULT_MESSAGE_BYTES = 1_048_588;
const BACKOFF = { initialMs: 50, maxMs: 3000 };

/** One topic-partition: its rows in order, at most one batch of them outstanding. A row leaves only when it is acknowledged. */
export class Lane {
  private queue: QueuedRow[] = [];
  private head = 0;
  private records = MOST_RECORDS;
  /** Waiting for a slot, for a leader, for an acknowledgement or for its next attempt. */
  busy = false;
  /** Failures since the last success. */
  failures = 0;
  error: string | undefined;

  constructor(
    readonly topic: string,
    readonly partition: number,
    private readonly maxMessageBytes: (topic: string) => number | undefined,
  ) {}

  get name(): string {
    return `${this.topic}/${this.partition}`;
  }

  get length(): number {
    return this.queue.length - this.head;
  }

  push(row: QueuedRow): void {
    this.queue.push(row);
  }

  /** The next batch, taken when it can be sent: at least one row, then as many as the bounds let in. They stay in the lane. */
  next(): QueuedRow[] {
    // Kafka applies max.message.bytes to the whole batch, and sizes here are estimates.
    const bytes = Math.min(MOST_BYTES, 0.9 * (this.maxMessageBytes(this.topic) ?? DEFAULT_MESSAGE_BYTES));
    let end = this.head;
    for (let size = 0; end < this.queue.length && end - this.head < this.records; end++) {
      size += this.queue[end]?.size ?? 0;
      if (size > bytes && end > this.head) break;
    }
    return this.queue.slice(this.head, end);
  }

  /** The first `count` rows are acknowledged. */
  acknowledged(count: number): void {
    this.failures = 0;
    this.error = undefined;
    this.records = Math.min(MOST_RECORDS, this.records * 2);
    this.head += count;
    // What is acknowledged is held no longer than as many rows wait: a lane may never run empty, and rows carry documents.
    if (this.head * 2 >= this.queue.length) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
  }

  /**
   * A batch failed; its rows stay first. Returns the pause before the next attempt in milliseconds. A batch that is too large
   * is halved, since sizes were estimated.
   */
  failed(error: string, batch: { size: number; tooLarge: boolean }): number {
    this.failures++;
    this.error = error;
    const halve = batch.tooLarge && batch.size > 1;
    if (halve) this.records = Math.ceil(batch.size / 2);
    return halve ? 0 : backoffMs(BACKOFF, this.failures);
  }
}
