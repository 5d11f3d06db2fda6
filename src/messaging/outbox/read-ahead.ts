import type { QueuedRow } from './queued-row';
import type { Position } from './window';

/** The rows of one read, and how far the cursor may go when all of them (and of all reads before) are sent. */
export interface Read {
  left: number;
  position: Position;
  oldest: string;
}

/**
 * What is read and not yet sent, in the order of reading. The cursor follows over the contiguous acknowledged prefix of
 * reads, so one lane that fails holds it back while the others go on, as far as the bound on rows and bytes lets reading run ahead.
 */
export class ReadAhead {
  private readonly pending: Read[] = [];
  private unsentRows = 0;
  private unsentBytes = 0;

  constructor(private readonly bound: { rows: number; bytes: number }) {}

  get rows(): number {
    return this.unsentRows;
  }

  /** Reads that are remembered: those with an unsent row. */
  get reads(): number {
    return this.pending.length;
  }

  get full(): boolean {
    return this.unsentRows >= this.bound.rows || this.unsentBytes >= this.bound.bytes;
  }

  /** Birth of the oldest row that is unsent, as RFC 3339; undefined when nothing is. */
  get oldest(): string | undefined {
    return this.pending[0]?.oldest;
  }

  add(read: Read, rows: readonly QueuedRow[]): void {
    this.pending.push(read);
    this.unsentRows += rows.length;
    for (const row of rows) this.unsentBytes += row.size;
  }

  /** A read without rows moved on: so will the cursor, once what is in hand is sent. False when nothing is in hand. */
  extend(position: Position): boolean {
    const last = this.pending.at(-1);
    if (last) last.position = position;
    return last !== undefined;
  }

  /** Counts rows as sent and returns how far the cursor may go now, if that changed. */
  sent(rows: readonly QueuedRow[]): Position | undefined {
    this.unsentRows -= rows.length;
    const ended = new Set<{ left: number }>();
    for (const row of rows) {
      this.unsentBytes -= row.size;
      if (--row.read.left === 0) ended.add(row.read);
    }
    const before = this.pending.length;
    let position: Position | undefined;
    while (this.pending[0]?.left === 0) position = this.pending.shift()?.position;
    this.merge(ended, ended.size - (before - this.pending.length));
    return position;
  }

  /**
   * A read that is wholly sent, behind one that is not, becomes part of that one. Else one lane that fails for days, while the
   * others flow, would pile up every read of those days.
   */
  private merge(ended: ReadonlySet<{ left: number }>, count: number): void {
    for (let index = this.pending.length - 1; count > 0 && index > 0; index--) {
      const [earlier, read] = [this.pending[index - 1], this.pending[index]];
      if (!earlier || !read || !ended.has(read)) continue;
      earlier.position = read.position;
      this.pending.splice(index, 1);
      count--;
    }
  }
}
