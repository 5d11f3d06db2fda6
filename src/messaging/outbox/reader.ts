import type { Client } from 'pg';
import type { Floor } from './floors';
import { type QueuedRow, type RawRow, toQueuedRow } from './queued-row';
import type { Read } from './read-ahead';
import { foreignPageSql, pageSql, pollSql, type ReadLimit, SEQUENCE_POSITION } from './read-query';
import { afterPage, afterPoll, freeze, type Position, type Window } from './window';

/** What one statement brought. */
export interface ReadResult {
  /** In `seq` order. */
  rows: QueuedRow[];
  /** Shared by all its rows. */
  read: Read;
  /** More is waiting: read again without a pause. */
  more: boolean;
}

/**
 * A page looks at this many numbers for each row that it may bring. Without an upper bound near its lower one, each page
 * plans and opens every partition of the backlog: four times as long with 100 of them. Holes and rows that were sent make a page shorter.
 */
const PAGE_SPAN = 20;

/** Reads the outbox by the difference of two snapshots, and keeps how far reading has come (sending comes behind). */
export class OutboxReader {
  /** Latest known position of the number sequence; its statement has ended. */
  sequence = 0n;
  /** All numbers up to here were looked at, as far as their transactions had ended. */
  private upto: bigint | undefined;

  constructor(
    private readonly client: Client,
    private readonly source: string,
    private readonly limit: ReadLimit,
    public position: Position,
    private readonly foreignUpto: bigint,
  ) {
    this.upto = position.window?.last;
  }

  /**
   * Numbers that were drawn and not looked at yet: an upper bound on rows, since a rolled-back transaction leaves a hole, but for those of transactions
   * that ran while it looked last: they are behind it, and count when they are read. 0 before the first read.
   */
  get unread(): bigint {
    return this.upto !== undefined && this.sequence > this.upto ? this.sequence - this.upto : 0n;
  }

  /** Reads the position of the number sequence alone. */
  async look(): Promise<bigint> {
    const [row] = await this.fetch<[string]>(SEQUENCE_POSITION);
    return (this.sequence = BigInt(row?.[0] ?? 0));
  }

  /** @param floor for the present `position.done` */
  read(floor: Floor): Promise<ReadResult> {
    const { window } = this.position;
    return window ? this.page(window) : this.poll(floor);
  }

  private async poll(floor: Floor): Promise<ReadResult> {
    const { done } = this.position;
    const fetched = await this.fetch<RawRow>(pollSql(done, floor, this.limit));
    const head = fetched.find((row) => row[0] === null);
    if (!head) throw new Error('the poll came without its snapshot');
    const rows = fetched.filter((row) => row[0] !== null);
    const running = rows.filter((row) => row[0] === 't');
    const cutByBytes = rows.some((row) => Number(row[14]) >= this.limit.bytes);
    const runningCut = cutByBytes || running.length > this.limit.rows;
    const poll = {
      position: BigInt(head[1]),
      snapshot: head[3] ?? '',
      overflow: cutByBytes || rows.length > this.limit.rows,
      lowestOfRunning: runningCut ? undefined : lowestSeq(running),
    };
    this.sequence = poll.position;
    if (poll.overflow) {
      this.position = freeze(done, poll, floor);
      this.upto = this.position.window?.last ?? this.upto;
      return this.result([], true);
    }
    this.position = afterPoll(poll);
    this.upto = poll.position;
    // Each branch comes in (xid, seq) order; within a key only seq order is commit order.
    return this.result(rows, false, (a, b) => (a.seq < b.seq ? -1 : 1));
  }

  private async page(window: Window): Promise<ReadResult> {
    const { done } = this.position;
    const foreign = window.hi <= this.foreignUpto;
    const stretch = { ...window, hi: min(window.hi, window.last + BigInt(this.limit.rows * PAGE_SPAN)) };
    const rows = await this.fetch<RawRow>(
      foreign ? foreignPageSql(stretch, this.limit) : pageSql(done, stretch, this.limit),
    );
    const last = rows.at(-1);
    const full = rows.length === this.limit.rows || Number(last?.[14] ?? 0) >= this.limit.bytes;
    const finished = !full && stretch.hi === window.hi;
    const lastSeq = full ? BigInt(last?.[1] ?? stretch.hi) : stretch.hi;
    this.position = afterPage(done, window, { lastSeq, finished });
    this.upto = finished ? window.hi : lastSeq;
    return this.result(rows, true);
  }

  private result(
    fetched: readonly RawRow[],
    more: boolean,
    order?: (a: QueuedRow, b: QueuedRow) => number,
  ): ReadResult {
    const read: Read = { left: fetched.length, position: this.position, oldest: '' };
    const rows = fetched.map((row) => toQueuedRow(row, this.source, read));
    if (order) rows.sort(order);
    read.oldest = rows[0]?.time ?? '';
    return { rows, read, more };
  }

  private async fetch<Row extends readonly unknown[]>(text: string): Promise<Row[]> {
    const { rows } = await this.client.query({ text, rowMode: 'array' });
    return rows as unknown as Row[];
  }
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

function lowestSeq(rows: readonly RawRow[]): bigint | null {
  let lowest: bigint | null = null;
  for (const row of rows) {
    const seq = BigInt(row[1]);
    if (lowest === null || seq < lowest) lowest = seq;
  }
  return lowest;
}
