import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../platform/clock';
import { messageOf } from '../../platform/errors';
import { backoffMs, sleep } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import { type LanePublisher, onDemand } from '../kafka';
import type { CursorState } from './cursor';
import { adoptForeignRows, currentSystemIdentifier } from './foreign-rows';
import { Lease } from './lease';
import { PARKING_TIMES, type ParkingTimes } from './parking/parking-rules';
import type { LaneTrouble } from './lane-failures';
import { connectRelay, type RelayConnections, type RelayDatabase } from './relay-connection';
import { type RelayObserver, RelaySession, type SessionOptions } from './relay-session';

export interface RelayOptions {
  database: RelayDatabase;
  /** Not closed by the relay: it belongs to the caller. */
  publisher: LanePublisher;
  /** Makes a second client for lanes that fail; opened when one does, closed when it is unused and when the relay stops. */
  quarantine: () => LanePublisher;
  /** When a lane that fails is parked, and how it is drained. */
  parking?: Partial<ParkingTimes>;
  /** `ce_source` of every record. */
  source: string;
  /** Name of this process in the lease, in pg_stat_activity and in logs. */
  instance: string;
  log: Pick<Logger, 'info' | 'warn' | 'error' | 'debug'>;
  clock?: Clock;
  /** How long a silent owner keeps the right to publish, ms. */
  leaseMs?: number;
  /** `max.message.bytes` of a topic as its channel says; Kafka's default where unknown. */
  maxMessageBytes?: (topic: string) => number | undefined;
  observer?: RelayObserver;
  /** Most rows of one read. 2,000: more made pages slower to sort and no faster to send. */
  pageRows?: number;
  /** Rows that may be read and unsent; with one page more, the bound on the relay's memory (beside 64 MB of payloads). */
  readAheadRows?: number;
}

/** What health, metrics and the console show. */
export interface RelayState {
  /** `connecting`: no database; `standby`: another relay owns the outbox. */
  role: 'stopped' | 'connecting' | 'standby' | 'owner';
  /** Number of the ownership, growing; undefined unless owner. */
  epoch: bigint | undefined;
  /** Committed rows that the broker has not acknowledged; an upper bound, but for what was being committed when the relay looked last. 0 unless owner. */
  pendingRows: number;
  /** Age of the oldest of them, ms. */
  oldestPendingAgeMs: number;
  /** What went wrong last with the database, in one sentence, until it goes well again. */
  lastError: string | undefined;
  failingLanes: readonly LaneTrouble[];
  /** Lanes whose rows wait in the database, with the reason in words. */
  parkedLanes: readonly { topic: string; partition: number; code: string; reason: string }[];
}

const RECONNECT = { initialMs: 100, maxMs: 5000 };
/** For the last cursor write and the lease, when all the time went into the last pass. */
const STOP_GRACE_MS = 1000;
const READ_AHEAD_BYTES = 64 * 1024 * 1024;
const PAGE_BYTES = 8 * 1024 * 1024;

/** Carries committed outbox rows to the broker. Any number may run; one owns the outbox at a time. */
export class Relay {
  private readonly lease: Lease;
  private readonly stopped = new AbortController();
  private readonly leaseMs: number;
  private readonly quarantine: LanePublisher;
  private running: Promise<void> | undefined;
  private connections: RelayConnections | undefined;
  private session: RelaySession | undefined;
  private role: RelayState['role'] = 'stopped';
  private lastError: string | undefined;
  private stopWithin = 0;

  constructor(private readonly options: RelayOptions) {
    this.leaseMs = options.leaseMs ?? 10_000;
    this.quarantine = onDemand(options.quarantine);
    this.lease = new Lease(`${options.instance} ${randomUUID().slice(0, 8)}`, this.leaseMs);
  }

  get state(): RelayState {
    const { session, role, lastError } = this;
    const oldest = session?.oldest;
    const now = (this.options.clock ?? systemClock).now().getTime();
    return {
      role,
      lastError,
      epoch: session?.epoch,
      pendingRows: session?.pending ?? 0,
      oldestPendingAgeMs: oldest ? Math.max(0, now - Date.parse(oldest)) : 0,
      failingLanes: session?.lanes.troubles ?? [],
      parkedLanes: (session?.lanes.parked ?? []).map(({ topic, partition, parked }) => {
        return { topic, partition, code: parked?.code ?? '', reason: parked?.reason ?? '' };
      }),
    };
  }

  /** Starts in the background; a database or a broker that is not there yet is waited for. */
  start(): void {
    this.running ??= this.loop();
  }

  /** Rows were committed in this process: read soon. Cheap, and coalesced. */
  wake(): void {
    this.session?.wake();
  }

  /**
   * Sends what is committed now, for at most `withinMs`, gives up the lease and closes the connections. What is not sent stays
   * for the next owner. Idempotent.
   */
  async stop(withinMs = 5000): Promise<void> {
    this.stopWithin = withinMs;
    this.stopped.abort();
    this.session?.stop();
    // A database that says nothing any more is not waited for longer than that.
    const late = setTimeout(() => void this.connections?.close(), withinMs + STOP_GRACE_MS);
    await this.running;
    clearTimeout(late);
    await this.quarantine.close();
    this.role = 'stopped';
  }

  private async loop(): Promise<void> {
    for (let attempt = 1; !this.stopped.signal.aborted;) {
      this.role = 'connecting';
      try {
        await this.connected(() => (attempt = 1));
      } catch (error) {
        this.lost(error);
        await sleep(backoffMs(RECONNECT, attempt++), this.stopped.signal);
      }
    }
  }

  /** One life of the two connections. Returns only when stopped. */
  private async connected(onWell: () => void): Promise<void> {
    let gone: Error | undefined;
    const connections = await connectRelay(this.options.database, this.options.instance, (error) => {
      gone ??= error;
      if (this.session) this.role = 'connecting';
      this.session?.fail(error);
    });
    this.connections = connections;
    try {
      while (!this.stopped.signal.aborted) {
        if (gone) throw gone;
        const state = await this.takeLease(connections);
        onWell();
        this.well(state ? 'owner' : 'standby');
        if (state) await this.own(connections, state, () => gone);
        else await sleep(Math.min(1000, this.leaseMs / 5), this.stopped.signal);
      }
    } finally {
      this.connections = undefined;
      await connections.close();
    }
  }

  private async takeLease({ reader }: RelayConnections): Promise<CursorState | undefined> {
    const state = await this.lease.acquire(reader);
    if (!state) return undefined;
    const cluster = await currentSystemIdentifier(reader);
    if (cluster === state.systemIdentifier) return state;
    const adopted = await adoptForeignRows(reader, state.epoch, cluster);
    const { window } = adopted.position;
    this.options.log.error(
      { from: String(window?.last), upto: String(window?.hi), was: state.systemIdentifier, now: cluster },
      'the database was restored into another cluster: every outbox row above the low-water mark is sent again',
    );
    return adopted;
  }

  private async own(connections: RelayConnections, state: CursorState, gone: () => Error | undefined): Promise<void> {
    const session = new RelaySession(this.sessionOptions(), connections, this.lease, state);
    this.session = session;
    const lost = gone();
    if (lost) session.fail(lost);
    if (this.stopped.signal.aborted) session.stop();
    try {
      this.options.log.info({ epoch: String(state.epoch) }, 'relay owns the outbox');
      await session.run(() => this.stopWithin);
      await this.lease.release(connections.reader, state.epoch);
    } finally {
      this.session = undefined;
    }
  }

  private sessionOptions(): SessionOptions {
    const { options } = this;
    return {
      publisher: options.publisher,
      quarantine: this.quarantine,
      parking: { ...PARKING_TIMES, ...options.parking },
      source: options.source,
      log: options.log,
      leaseMs: this.leaseMs,
      maxMessageBytes: options.maxMessageBytes ?? (() => undefined),
      observer: options.observer ?? { sent: () => undefined, failed: () => undefined },
      page: { rows: options.pageRows ?? 2000, bytes: PAGE_BYTES },
      readAhead: { rows: options.readAheadRows ?? 20_000, bytes: READ_AHEAD_BYTES },
    };
  }

  private well(role: RelayState['role']): void {
    if (this.lastError !== undefined) this.options.log.info({ role }, 'relay has its database again');
    else if (role === 'standby' && this.role !== 'standby') this.options.log.info('relay stands by');
    this.lastError = undefined;
    this.role = role;
  }

  /** One line when trouble begins, not one an attempt. */
  private lost(error: unknown): void {
    const text = messageOf(error);
    if (this.lastError === undefined) {
      this.options.log.warn({ error: text }, 'relay has lost the outbox and tries again; rows wait in order');
    }
    this.lastError = text;
    this.role = 'connecting';
  }
}

/** The relay of this process; {@link Relay.start} begins it. */
export function createRelay(options: RelayOptions): Relay {
  return new Relay(options);
}
