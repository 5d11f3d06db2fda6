import { sleep, Wakeable } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import type { LanePublisher, LaneReceipt } from '../kafka';
import { Cursor, type CursorState } from './cursor';
import { type Floor, Floors } from './floors';
import { Lanes } from './lanes';
import type { Lease } from './lease';
import { Pace } from './pace';
import type { QueuedRow } from './queued-row';
import { ReadAhead } from './read-ahead';
import type { ReadLimit } from './read-query';
import { OutboxReader } from './reader';
import { type Run, toRuns } from './receipt-runs';
import type { RelayConnections } from './relay-connection';
import type { Position } from './window';

/** The cursor is written at most this often: a write costs a WAL record and a round trip, and a crash only re-sends. */
const FLUSH_MS = 50;
/** How often the end of the outbox is looked at while nothing more may be read. */
const LOOK_MS = 1000;
/** What a wake-up waits for company when the outbox was quiet. */
const COALESCE_MS = 2;

export interface SessionOptions {
  publisher: LanePublisher;
  source: string;
  maxMessageBytes: (topic: string) => number | undefined;
  log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  page: ReadLimit;
  readAhead: { rows: number; bytes: number };
  leaseMs: number;
  observer: RelayObserver;
}

/** What metrics count. */
export interface RelayObserver {
  /** The broker has acknowledged a batch; `oldest` is the birth (RFC 3339) of its first row. */
  sent(topic: string, rows: number, oldest: string): void;
  /** A batch failed; its rows wait for the next attempt. */
  failed(topic: string): void;
}

/**
 * One ownership of the outbox, from the lease to the loss of either connection, of the lease, or to the stop. All that it knows
 * (windows, floors, lanes) dies with it: after a crash the database may give out the same ids and numbers again, and only
 * the state row, which then is older, speaks of the same history.
 */
export class RelaySession {
  readonly lanes: Lanes;
  private readonly reader: OutboxReader;
  private readonly cursor: Cursor;
  private readonly floors: Floors;
  private readonly readAhead: ReadAhead;
  private readonly pace = new Pace(performance.now());
  private readonly wakeable = new Wakeable();
  private sent: Position;
  private sentMoved = false;
  private storedFloor: Floor;
  private runs: Run[] = [];
  /** The last statement of the writing connection: they run one after the other. */
  private writing: Promise<unknown> = Promise.resolve();
  private flushTimer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private flushedAt = 0;
  private lookedAt = 0;
  private renewTimer: NodeJS.Timeout | undefined;
  private failure: Error | undefined;
  private stopping = false;

  constructor(
    private readonly options: SessionOptions,
    private readonly connections: RelayConnections,
    private readonly lease: Lease,
    state: CursorState,
  ) {
    this.cursor = new Cursor(connections.writer, state.epoch);
    this.sent = state.position;
    this.storedFloor = state.floor;
    this.floors = new Floors(state.floor);
    this.readAhead = new ReadAhead(options.readAhead);
    this.reader = new OutboxReader(connections.reader, options.source, options.page, state.position, state.foreignUpto);
    this.lanes = new Lanes({
      publisher: options.publisher,
      maxMessageBytes: options.maxMessageBytes,
      log: options.log,
      onSent: (rows, receipt) => this.onSent(rows, receipt),
      onFailed: (topic) => options.observer.failed(topic),
      mayPublish: () => this.failure === undefined && this.lease.seemsOurs,
    });
  }

  get epoch(): bigint {
    return this.cursor.epoch;
  }

  /** Committed rows that are not acknowledged: exact for what is read, an upper bound for the rest. */
  get pending(): number {
    return this.readAhead.rows + Number(this.reader.unread);
  }

  get oldest(): string | undefined {
    return this.readAhead.oldest;
  }

  wake(): void {
    this.wakeable.wake();
  }

  /** Ends the session from outside: the connection is gone. */
  fail(error: Error): void {
    this.failure ??= error;
    this.wakeable.wake();
  }

  /** Asks {@link run} to take what is committed now, send it, and end. */
  stop(): void {
    this.stopping = true;
    this.wakeable.wake();
  }

  /**
   * Resolves after {@link stop}; rejects when the session is lost. In both cases nothing of it is outstanding any more.
   * @param stopWithin how long the last pass may take, in ms; asked when it begins
   */
  async run(stopWithin: () => number): Promise<void> {
    this.renewTimer = setInterval(() => void this.renew(), this.options.leaseMs / 3);
    try {
      // The first write gives the first mark of the floor, long before anything is sent.
      await this.reader.look();
      await this.flush(true);
      while (!this.stopping) await this.step();
      await this.lastPass(performance.now() + stopWithin());
    } catch (error) {
      this.fail(error as Error);
      // Statements that a silent server holds fail with the connection, not one after the other by their timeouts.
      await this.connections.close();
    } finally {
      clearInterval(this.renewTimer);
      clearTimeout(this.flushTimer);
      await this.lanes.close();
      await this.flushing;
      await this.writing;
      if (!this.failure) await this.flush(false).catch((error: unknown) => this.fail(error as Error));
    }
    if (this.failure) throw this.failure;
  }

  private async step(): Promise<void> {
    if (this.failure) throw this.failure;
    if (this.readAhead.full) {
      // Room comes with an acknowledgement, which wakes us, as does every commit; the second is for the metrics.
      await this.wakeable.wait(LOOK_MS);
      if (this.readAhead.full && performance.now() - this.lookedAt >= LOOK_MS) {
        this.lookedAt = performance.now();
        await this.reader.look();
      }
      return;
    }
    const more = await this.readOnce();
    if (more || this.stopping) return;
    await sleep(this.pace.gapMs);
    const woken = await this.wakeable.wait(this.pace.idleMs(performance.now()) - this.pace.gapMs);
    if (woken && this.pace.gapMs <= COALESCE_MS) await sleep(COALESCE_MS);
  }

  private async readOnce(): Promise<boolean> {
    const { rows, read, more } = await this.reader.read(this.floors.of(this.reader.position.done));
    if (this.failure) throw this.failure;
    this.pace.polled(rows.length, performance.now());
    if (rows.length > 0) {
      this.readAhead.add(read, rows);
      this.lanes.add(rows);
    } else if (!this.readAhead.extend(read.position)) {
      // Nothing in hand: the position is sent as it is. It is stored when there is something to store.
      this.sent = read.position;
    }
    return more;
  }

  /** What was committed before the stop goes out, if the lanes can; what can't stays for the next owner. */
  private async lastPass(deadline: number): Promise<void> {
    let more = true;
    while (!this.failure && performance.now() < deadline && (more || this.readAhead.rows > 0)) {
      if (more && !this.readAhead.full) more = await this.readOnce();
      else await this.wakeable.wait(Math.min(100, deadline - performance.now()));
    }
  }

  private onSent(rows: readonly QueuedRow[], receipt: LaneReceipt): void {
    const wasFull = this.readAhead.full;
    const position = this.readAhead.sent(rows);
    if (position) {
      this.sent = position;
      this.sentMoved = true;
    }
    this.runs.push(
      ...toRuns(
        receipt,
        rows.map((row) => row.seq),
      ),
    );
    this.options.observer.sent(receipt.topic, rows.length, rows[0]?.time ?? '');
    if ((wasFull && !this.readAhead.full) || this.stopping) this.wakeable.wake();
    this.flushSoon();
  }

  private flushSoon(): void {
    if (this.flushTimer || this.flushing || this.failure) return;
    const pauseMs = Math.max(0, this.flushedAt + FLUSH_MS - performance.now());
    this.flushTimer = setTimeout(() => {
      this.flushTimer = undefined;
      this.flushing = this.flush(false)
        .catch((error: unknown) => this.fail(error as Error))
        .finally(() => {
          this.flushing = undefined;
          if (this.sentMoved || this.runs.length > 0) this.flushSoon();
        });
    }, pauseMs);
  }

  private async flush(always: boolean): Promise<void> {
    if (!always && !this.sentMoved && this.runs.length === 0) return;
    const { runs, sent } = this;
    this.runs = [];
    this.sentMoved = false;
    this.flushedAt = performance.now();
    // Read by a statement that has ended before the write begins: the floor's argument needs this order.
    const sequence = this.reader.sequence;
    const floor = this.floors.of(sent.done);
    const xid = await this.write(() => this.cursor.write(sent, floor, runs));
    this.storedFloor = floor;
    this.floors.mark(xid, sequence);
    this.floors.forget(sent.done);
  }

  private write<T>(statement: () => Promise<T>): Promise<T> {
    const result = this.writing.then(() => {
      if (this.failure) throw this.failure;
      return statement();
    });
    this.writing = result.catch(() => undefined);
    return result;
  }

  private async renew(): Promise<void> {
    try {
      await this.write(() => this.lease.renew(this.cursor));
      this.lanes.resume();
      // The floor follows the cursor by a write; when nothing more is sent, retention and the next owner still want it.
      if (this.floors.of(this.sent.done).xmin > this.storedFloor.xmin) {
        this.sentMoved = true;
        this.flushSoon();
      }
    } catch (error) {
      this.fail(error as Error);
    }
  }
}
