import { sleep, Wakeable } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import type { LanePublisher, LaneReceipt } from '../kafka';
import { Cursor, type CursorState } from './cursor';
import { Lanes } from './lanes';
import type { Lease } from './lease';
import { Pace } from './pace';
import { Drain } from './parking/drain';
import { ParkedStore } from './parking/parked-store';
import type { ParkingTimes } from './parking/parking-rules';
import type { QueuedRow } from './queued-row';
import { ReadAhead } from './read-ahead';
import type { ReadLimit } from './read-query';
import { OutboxReader } from './reader';
import type { RelayConnections } from './relay-connection';
import type { RelayReport } from './relay-report';
import { RelayWriter } from './relay-writer';
import type { Position } from './window';

/** How often the end of the outbox is looked at while nothing more may be read. */
const LOOK_MS = 1000;
/** What a wake-up waits for company when the outbox was quiet. */
const COALESCE_MS = 2;

export interface SessionOptions {
  publisher: LanePublisher;
  /** For lanes that fail. */
  quarantine: LanePublisher;
  parking: ParkingTimes;
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
  private readonly writer: RelayWriter;
  private readonly drain: Drain;
  private readonly readAhead: ReadAhead;
  private readonly pace = new Pace(performance.now());
  private readonly wakeable = new Wakeable();
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
    const { parking, source } = options;
    this.cursor = new Cursor(connections.writer, state.epoch, parking.backoff.initialMs);
    this.readAhead = new ReadAhead(options.readAhead);
    this.reader = new OutboxReader(connections.reader, source, options.page, state.position, state.foreignUpto);
    this.writer = new RelayWriter({
      cursor: this.cursor,
      state,
      sequence: () => this.reader.sequence,
      failure: () => this.failure,
      onFailure: (error) => this.fail(error),
      onRoom: () => this.wakeable.wake(),
    });
    this.lanes = this.makeLanes();
    this.drain = new Drain({
      lanes: this.lanes,
      store: new ParkedStore(connections.writer, state.epoch, source),
      times: parking,
      run: (statement) => this.writer.run(statement),
      flush: () => this.writer.flush(false),
      onSent: (topic, rows) => options.observer.sent(topic, rows.length, rows[0]?.time ?? ''),
      onFailure: (error) => this.fail(error),
    });
  }

  private makeLanes(): Lanes {
    const { publisher, quarantine, maxMessageBytes, parking, log, observer } = this.options;
    return new Lanes({
      publisher,
      quarantine,
      maxMessageBytes,
      parking,
      log,
      onSent: (rows, receipt) => this.onSent(rows, receipt),
      onFailed: (topic) => observer.failed(topic),
      onParked: (lane, rows, state, dead) => {
        this.writer.parked(lane, rows, state, dead, this.settled(rows));
      },
      mayPublish: () => this.failure === undefined && this.lease.seemsOurs,
      isFull: () => this.readAhead.full,
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

  private get report(): RelayReport {
    const now = Date.now();
    const failingLanes = this.lanes.troubles.map(({ failingForMs, ...lane }) => {
      return { ...lane, since: new Date(now - failingForMs).toISOString() };
    });
    return { pendingRows: this.pending, oldestPending: this.oldest ?? null, failingLanes };
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
      await this.writer.flush(true);
      await this.drain.load();
      this.drain.start();
      while (!this.stopping) await this.step();
      await this.lastPass(performance.now() + stopWithin());
    } catch (error) {
      this.fail(error as Error);
      // Statements that a silent server holds fail with the connection, not one after the other by their timeouts.
      await this.connections.close();
    } finally {
      clearInterval(this.renewTimer);
      this.drain.stop();
      await this.lanes.close();
      await this.drain.ended();
      await this.writer.close();
    }
    if (this.failure) throw this.failure;
  }

  private async step(): Promise<void> {
    if (this.failure) throw this.failure;
    if (this.full) {
      // Room comes with an acknowledgement, which wakes us, as does every commit; the second is for the metrics.
      await this.wakeable.wait(LOOK_MS);
      if (this.full && performance.now() - this.lookedAt >= LOOK_MS) {
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

  private get full(): boolean {
    return this.readAhead.full || this.writer.full;
  }

  private async readOnce(): Promise<boolean> {
    const { rows, read, more } = await this.reader.read(this.writer.floors.of(this.reader.position.done));
    if (this.failure) throw this.failure;
    this.pace.polled(rows.length, performance.now());
    if (rows.length > 0) {
      this.readAhead.add(read, rows);
      this.lanes.add(rows);
    } else if (!this.readAhead.extend(read.position)) {
      // Nothing in hand: the position is sent as it is. It is stored when there is something to store.
      this.writer.moveTo(read.position);
    }
    return more;
  }

  /** What was committed before the stop goes out, if the lanes can; what can't stays for the next owner. */
  private async lastPass(deadline: number): Promise<void> {
    let more = true;
    while (!this.failure && performance.now() < deadline && (more || this.readAhead.rows > 0)) {
      if (more && !this.full) more = await this.readOnce();
      else await this.wakeable.wait(Math.min(100, deadline - performance.now()));
    }
  }

  private onSent(rows: readonly QueuedRow[], receipt: LaneReceipt): void {
    this.writer.acknowledged(rows, receipt, this.settled(rows));
    this.options.observer.sent(receipt.topic, rows.length, rows[0]?.time ?? '');
  }

  /** Rows leave the memory, sent or parked; returns how far the cursor may go now, if that changed. */
  private settled(rows: readonly QueuedRow[]): Position | undefined {
    const wasFull = this.readAhead.full;
    const position = this.readAhead.sent(rows);
    if ((wasFull && !this.readAhead.full) || this.stopping) this.wakeable.wake();
    return position;
  }

  private async renew(): Promise<void> {
    try {
      await this.writer.run(() => this.lease.renew(this.cursor, this.report));
      this.lanes.resume();
      this.writer.followFloor();
    } catch (error) {
      this.fail(error as Error);
    }
  }
}
