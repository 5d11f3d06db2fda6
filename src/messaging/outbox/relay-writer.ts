import type { LaneReceipt } from '../kafka';
import type { Cursor, CursorState } from './cursor';
import { type Floor, Floors } from './floors';
import type { Lane } from './lane';
import type { Death } from './lanes-options';
import { Parking } from './parking/parked-rows';
import type { QueuedRow } from './queued-row';
import { type Run, toRuns } from './receipt-runs';
import type { Position } from './window';

/** The cursor is written at most this often: a write costs a WAL record and a round trip, and a crash only re-sends. */
const FLUSH_MS = 50;
/** So many rows may be on their way into parked_outbound; then reading waits. */
const MOST_PARKING = 10_000;

export interface WriterOptions {
  cursor: Cursor;
  state: CursorState;
  /** Position of the number sequence, from a statement that has ended. */
  sequence: () => bigint;
  failure: () => Error | undefined;
  onFailure: (error: Error) => void;
  /** There is room again for rows on their way into parked_outbound. */
  onRoom: () => void;
}

/** The writing connection: its statements run one after another, and the cursor's goes out when there is something to store. */
export class RelayWriter {
  readonly floors: Floors;
  private sent: Position;
  private moved = false;
  private storedFloor: Floor;
  private runs: Run[] = [];
  private parking: Parking | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private flushedAt = 0;

  constructor(private readonly options: WriterOptions) {
    this.sent = options.state.position;
    this.storedFloor = options.state.floor;
    this.floors = new Floors(options.state.floor);
  }

  get full(): boolean {
    return (this.parking?.rows.length ?? 0) >= MOST_PARKING;
  }

  /**
   * Nothing is in hand: the position is stored when there is something to store, but the end of a backlog is at once. The lease's
   * {@link followFloor} would not: behind a transaction that stays open the floor stands still.
   */
  moveTo(position: Position): void {
    if (this.sent.window && !position.window) this.advance(position);
    else this.sent = position;
  }

  /** @param position how far the cursor may go now, if that changed */
  acknowledged(rows: readonly QueuedRow[], receipt: LaneReceipt, position: Position | undefined): void {
    this.runs.push(
      ...toRuns(
        receipt,
        rows.map((row) => row.seq),
      ),
    );
    this.advance(position);
  }

  /** The rows are parked by the statement that moves the cursor over them, or by an earlier one. */
  parked(
    lane: Lane,
    rows: readonly QueuedRow[],
    state: 'waiting' | 'held',
    dead: Death | undefined,
    position?: Position,
  ): void {
    (this.parking ??= new Parking()).add(lane, rows, state, dead);
    this.advance(position);
  }

  async flush(always: boolean): Promise<void> {
    if (!always && !this.moved && this.runs.length === 0 && !this.parking) return;
    const { runs, sent, parking, full } = this;
    this.runs = [];
    this.parking = undefined;
    this.moved = false;
    this.flushedAt = performance.now();
    // Read by a statement that has ended before the write begins: the floor's argument needs this order.
    const sequence = this.options.sequence();
    const floor = this.floors.of(sent.done);
    const xid = await this.run(() => this.options.cursor.write(sent, floor, runs, parking));
    this.storedFloor = floor;
    this.floors.mark(xid, sequence);
    this.floors.forget(sent.done);
    if (full) this.options.onRoom();
  }

  /** The floor follows the cursor by a write; when nothing more is sent, retention and the next owner still want it. */
  followFloor(): void {
    if (this.floors.of(this.sent.done).xmin <= this.storedFloor.xmin) return;
    this.moved = true;
    this.flushSoon();
  }

  /** A statement of the writing connection, behind all that was given to it before. */
  run<T>(statement: () => Promise<T>): Promise<T> {
    const result = this.last.then(() => {
      const failure = this.options.failure();
      if (failure) throw failure;
      return statement();
    });
    this.last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when nothing of it is outstanding. What was not written yet is, unless the session is lost. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    await this.flushing;
    await this.last;
    if (!this.options.failure()) {
      await this.flush(false).catch((error: unknown) => this.options.onFailure(error as Error));
    }
  }

  private advance(position: Position | undefined): void {
    if (position) {
      this.sent = position;
      this.moved = true;
    }
    this.flushSoon();
  }

  private flushSoon(): void {
    if (this.timer || this.flushing || this.options.failure()) return;
    const pauseMs = Math.max(0, this.flushedAt + FLUSH_MS - performance.now());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.flushing = this.flush(false)
        .catch((error: unknown) => this.options.onFailure(error as Error))
        .finally(() => {
          this.flushing = undefined;
          if (this.moved || this.runs.length > 0 || this.parking) this.flushSoon();
        });
    }, pauseMs);
  }
}
