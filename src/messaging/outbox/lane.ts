import { backoffMs } from '../../platform/polling';
import type { LaneReceipt } from '../kafka';
import type { QueuedRow } from './queued-row';

/** Kafka's trial optimum: larger batches gained nothing and made a lost acknowledgement dearer. */
const MOST_RECORDS = 500;
const MOST_BYTES = 800_000;
/** What Kafka takes when a topic says nothing else (`message.max.bytes`). */
const DEFAULT_MESSAGE_BYTES = 1_048_588;
const BACKOFF = { initialMs: 50, maxMs: 3000 };
/** So often a single record is refused before it is dead: one refusal may come from a damaged wire. */
const REFUSALS = 3;

/** What became of parked rows that the drain gave to a lane: the first of them are sent, or the first one is dead. */
export type Carried =
  | { kind: 'sent'; rows: readonly QueuedRow[]; receipt: LaneReceipt }
  | { kind: 'dead'; row: QueuedRow; code: string; words: string };

/** Parked rows that go before the lane's own. They are in the database: when they fail, they leave the lane. */
export interface Guest {
  rows: readonly QueuedRow[];
  settle(carried: Carried): void;
  fail(code: string, words: string): void;
}

/** What is sent at once, and whose it is: what becomes of it is theirs, also where a guest has come since. */
export interface Batch {
  rows: readonly QueuedRow[];
  /** Undefined: the lane's own. */
  guest: Guest | undefined;
}

/** One topic-partition: its rows in order, at most one batch of them outstanding. A row leaves only when it is acknowledged or parked. */
export class Lane {
  private queue: QueuedRow[] = [];
  private head = 0;
  private records = MOST_RECORDS;
  /** Waiting for a slot, for a leader, for an acknowledgement or for its next attempt. */
  busy = false;
  /** Failures since the last success. */
  failures = 0;
  error: string | undefined;
  code = '';
  /** When the first of these failures was, ms of performance.now(). */
  failingSince = 0;
  /** Refusals of the first record alone. */
  private refusals = 0;
  /**
   * Its own rows failed and go before a guest: they may be written already, and halving and refusals are counted for one batch, not for
   * two by turns.
   */
  private ownAgain = false;
  guest: Guest | undefined;
  /** Its rows wait in parked_outbound. While `leaving`, the last of them are sent and new rows wait in memory, behind them. */
  parked: { code: string; reason: string; leaving: boolean } | undefined;
  /** Keys behind a dead letter. A list: the key is let go, and new rows of it wait there, behind its parked ones. */
  readonly held = new Map<string, QueuedRow[] | undefined>();

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
  next(): Batch {
    const guest = this.ownAgain && this.length > 0 ? undefined : this.guest;
    const [rows, first] = guest ? [guest.rows, 0] : [this.queue, this.head];
    // Kafka applies max.message.bytes to the whole batch, and sizes here are estimates.
    const bytes = Math.min(MOST_BYTES, 0.9 * (this.maxMessageBytes(this.topic) ?? DEFAULT_MESSAGE_BYTES));
    let end = first;
    for (let size = 0; end < rows.length && end - first < this.records; end++) {
      size += rows[end]?.size ?? 0;
      if (size > bytes && end > first) break;
    }
    return { rows: rows.slice(first, end), guest };
  }

  /** A batch is acknowledged: the first rows of the lane, or of the guest, which leaves. */
  acknowledged({ rows, guest }: Batch): void {
    this.well();
    this.records = Math.min(MOST_RECORDS, this.records * 2);
    if (guest) {
      this.guest = undefined;
      return;
    }
    this.head += rows.length;
    // What is acknowledged is held no longer than as many rows wait: a lane may never run empty, and rows carry documents.
    if (this.head * 2 >= this.queue.length) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
  }

  /** Nothing is wrong with the lane itself. */
  well(): void {
    this.failures = 0;
    this.refusals = 0;
    this.ownAgain = false;
    this.error = undefined;
    this.code = '';
  }

  /** A guest goes back: its rows wait in the database. */
  turnAway(code: string, words: string): void {
    const { guest } = this;
    this.guest = undefined;
    guest?.fail(code, words);
  }

  /** Takes all rows out, in order. */
  takeAll(): QueuedRow[] {
    const rows = this.queue.slice(this.head);
    this.queue = [];
    this.head = 0;
    // Rows that come now stand behind these, wherever these go.
    this.ownAgain = false;
    return rows;
  }

  /** Holds a key and takes its rows out, in order. None of them may be with the broker: what is acknowledged is counted from the first. */
  hold(key: string): QueuedRow[] {
    const rows = this.queue.slice(this.head);
    this.queue = rows.filter((row) => row.key !== key);
    this.head = 0;
    const buffered = this.held.get(key) ?? [];
    this.held.set(key, undefined);
    return [...rows.filter((row) => row.key === key), ...buffered];
  }

  /**
   * A batch failed; its rows stay first. `refused`: the broker will not take these bytes, whatever the hour; then the batch is
   * halved, down to the offender. Returns the pause before the next attempt in milliseconds, or `dead` for that one.
   */
  failed(
    { code, words, refused }: { code: string; words: string; refused: boolean },
    { rows, guest }: Batch,
    now: number,
  ): number | 'dead' {
    if (this.failures++ === 0) this.failingSince = now;
    this.ownAgain = guest === undefined;
    this.error = words;
    this.code = code;
    if (refused && rows.length > 1) {
      this.records = Math.ceil(rows.length / 2);
      return 0;
    }
    this.refusals = refused && rows.length === 1 ? this.refusals + 1 : 0;
    return this.refusals >= REFUSALS ? 'dead' : backoffMs(BACKOFF, this.failures);
  }
}
