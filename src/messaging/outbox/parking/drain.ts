import { backoffMs } from '../../../platform/polling';
import type { Carried, Lane } from '../lane';
import type { Lanes } from '../lanes';
import { LaneFailure } from '../lanes-options';
import type { QueuedRow } from '../queued-row';
import { toRuns } from '../receipt-runs';
import type { Due, KeyId, ParkedPage, ParkedStore } from './parked-store';
import type { ParkingTimes } from './parking-rules';
import { isStop, reasonOf } from './reasons';

export interface DrainOptions {
  lanes: Lanes;
  store: ParkedStore;
  times: ParkingTimes;
  /** Runs a statement of the store behind all writes that were given before. */
  run: <T>(statement: () => Promise<T>) => Promise<T>;
  /** All rows that were parked until now are in the database when it resolves. */
  flush: () => Promise<void>;
  onSent: (topic: string, rows: readonly QueuedRow[]) => void;
  /** The database, or the lease, is gone. */
  onFailure: (error: Error) => void;
}

type DueKey = Due['keys'][number];

/** The owner's way to send what is parked: in order, a lane at a time beside the others, with backoff, at once when staff ask. */
export class Drain {
  private readonly working = new Map<Lane, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private ticking: Promise<void> | undefined;
  private closed = false;

  constructor(private readonly options: DrainOptions) {}

  /** Takes over what is parked. Nothing may be sent before it resolves: later rows would overtake. */
  async load(): Promise<void> {
    const { lanes, store, run } = this.options;
    const parked = await run(() => store.load());
    for (const { topic, partition, code, reason } of parked.lanes) {
      lanes.lane(topic, partition).parked = { code, reason, leaving: false };
    }
    for (const { topic, partition, key } of parked.keys) lanes.lane(topic, partition).held.set(key, undefined);
    lanes.stop((await run(() => store.due())).stopped);
  }

  start(): void {
    if (this.closed) return;
    this.timer = setTimeout(() => {
      this.ticking = this.tick()
        .catch((error: unknown) => this.options.onFailure(error as Error))
        .finally(() => this.start());
    }, this.options.times.lookMs);
  }

  /** Begins nothing more. What is under way ends when the lanes are closed. */
  stop(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  async ended(): Promise<void> {
    await this.ticking;
    await Promise.all(this.working.values());
  }

  private async tick(): Promise<void> {
    const { lanes, store, run } = this.options;
    const due = await run(() => store.due());
    if (this.closed) return;
    lanes.stop(due.stopped);
    const toDrain = new Map<Lane, string | undefined>();
    for (const lane of lanes.parked) if (isStop(lane.parked?.code)) toDrain.set(lane, undefined);
    await this.restate(toDrain.keys());
    for (const { topic, partition, at } of due.lanes) toDrain.set(lanes.lane(topic, partition), at);
    const keys = Map.groupBy(due.keys, ({ topic, partition }) => lanes.lane(topic, partition));
    for (const lane of new Set([...toDrain.keys(), ...keys.keys()])) {
      if (this.working.has(lane) || lanes.stopOf(lane)) continue;
      const work = this.work(lane, toDrain.get(lane), keys.get(lane) ?? [])
        .catch((error: unknown) => this.options.onFailure(error as Error))
        .finally(() => this.working.delete(lane));
      this.working.set(lane, work);
    }
  }

  /** What is said of a paused partner is no longer true when it is suspended. */
  private async restate(lanes: Iterable<Lane>): Promise<void> {
    const { store, run } = this.options;
    for (const lane of lanes) {
      const stop = this.options.lanes.stopOf(lane);
      const reason = stop && reasonOf(stop.code, stop.words);
      if (!reason || !lane.parked || lane.parked.reason === reason) continue;
      lane.parked = { ...lane.parked, code: stop.code, reason };
      await run(() => store.restate(lane, { code: stop.code, reason }));
    }
  }

  /** A key's rows go only through a lane that flows: what waits for the lane is older or of other keys. */
  private async work(lane: Lane, at: string | undefined, keys: readonly DueKey[]): Promise<void> {
    if (lane.parked) await this.drainLane(lane, at);
    for (const key of keys) if (!lane.parked && !this.closed) await this.drainKey(lane, key);
  }

  /** @param at when its attempt was due */
  private async drainLane(lane: Lane, at: string | undefined): Promise<void> {
    const { lanes, store, run, flush, times } = this.options;
    try {
      for (;;) {
        const page = await run(() => store.nextOfLane(lane));
        if (this.closed) return;
        if (page.last && lane.parked && !lane.parked.leaving) {
          // From here on new rows wait in memory, and all that came before is in the database.
          lane.parked.leaving = true;
          await flush();
        } else if (page.rows.length === 0 && !page.missing) break;
        else await this.send(lane, page);
      }
      if (await run(() => store.unpark(lane))) lanes.unpark(lane);
      else lanes.stay(lane);
    } catch (error) {
      lanes.stay(lane);
      if (this.closed) return;
      if (!(error instanceof LaneFailure)) throw error;
      const { code, message } = error;
      const reason = reasonOf(code, message);
      if (lane.parked) lane.parked = { ...lane.parked, code, reason };
      await run(() => store.laneFailed(lane, { code, reason }, at, (attempt) => backoffMs(times.backoff, attempt)));
    }
  }

  private async drainKey(lane: Lane, due: DueKey): Promise<void> {
    const { lanes, store, run, flush, times } = this.options;
    const { key } = due;
    try {
      for (;;) {
        const page = await run(() => store.nextOfKey(due));
        if (this.closed) return;
        if (page.dead) {
          lanes.hold(lane, key);
          await run(() => store.keyWaits(due, due.at));
          return;
        }
        if (page.last && !lane.held.get(key)) {
          lane.held.set(key, []);
          await flush();
        } else if (page.rows.length === 0 && !page.missing) break;
        else await this.send(lane, page);
      }
      if (await run(() => store.release(due))) lanes.release(lane, key);
      else lanes.hold(lane, key);
    } catch (error) {
      lanes.hold(lane, key);
      if (this.closed) return;
      if (!(error instanceof LaneFailure)) throw error;
      await run(() => store.keyLater(due, due.at, backoffMs(times.backoff, Math.max(1, lane.failures))));
    }
  }

  private async send(lane: Lane, page: ParkedPage): Promise<void> {
    if (page.missing) {
      await this.died(lane, page.missing, 'message-missing', reasonOf('message-missing'));
      return;
    }
    // Since the drain began.
    const stop = this.options.lanes.stopOf(lane);
    if (stop) throw new LaneFailure(stop.code, stop.words);
    const carried: Carried = await this.options.lanes.carry(lane, page.rows);
    if (carried.kind === 'dead') {
      await this.died(lane, carried.row, carried.code, carried.words);
      return;
    }
    const { rows, receipt } = carried;
    const seqs = rows.map((row) => row.seq);
    await this.options.run(() => this.options.store.sent(seqs, toRuns(receipt, seqs)));
    this.options.onSent(lane.topic, rows);
  }

  /** What was parked before the key is held is in the database when the statement looks for it. */
  private async died(lane: Lane, row: { seq: bigint; key: string }, code: string, detail: string): Promise<void> {
    const { lanes, store, run, flush } = this.options;
    lanes.hold(lane, row.key);
    await flush();
    const id: KeyId = { topic: lane.topic, partition: lane.partition, key: row.key };
    await run(() => store.died({ seq: row.seq, ...id }, code, detail));
  }
}
