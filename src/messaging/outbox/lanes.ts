import { AppError, messageOf } from '../../platform/errors';
import type { LanePublisher, LaneReceipt } from '../kafka';
import { type Batch, type Carried, type Guest, Lane } from './lane';
import { LaneFailures, type LaneTrouble } from './lane-failures';
import { type Death, LaneFailure, type LanesOptions } from './lanes-options';
import type { PartnerStop } from './parking/parked-store';
import { Acknowledgements, judge } from './parking/parking-rules';
import { reasonOf } from './parking/reasons';
import type { QueuedRow } from './queued-row';
import { Slots } from './slots';

/** All lanes and the way of each row: to the broker, or into parked_outbound and, later, back from there. */
export class Lanes {
  private readonly byTopic = new Map<string, Map<number, Lane>>();
  private readonly failures: LaneFailures;
  private readonly acknowledged = new Acknowledgements<Lane>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly outstanding = new Set<Promise<void>>();
  private readonly main: Slots;
  private readonly quarantine: Slots;
  private stopped: ReadonlyMap<string, PartnerStop> = new Map();
  private closed = false;

  constructor(private readonly options: LanesOptions) {
    this.failures = new LaneFailures(options.log);
    const slots = (publisher: LanePublisher) =>
      new Slots(
        publisher,
        () => !this.closed && options.mayPublish(),
        (lane, client) => this.track(this.send(lane, client)),
      );
    this.main = slots(options.publisher);
    this.quarantine = slots(options.quarantine);
  }

  /** Lanes that fail now and are not parked, with the last error of each, in one sentence. */
  get troubles(): LaneTrouble[] {
    return this.failures.list();
  }

  /** Lanes whose rows wait in the database. */
  get parked(): Lane[] {
    return [...this.byTopic.values()].flatMap((lanes) => [...lanes.values()].filter((lane) => lane.parked));
  }

  /** Appends rows to their lanes, in order. What must wait behind parked rows follows them. */
  add(rows: readonly QueuedRow[]): void {
    const touched = new Set<Lane>();
    const [waiting, held] = [new Map<Lane, QueuedRow[]>(), new Map<Lane, QueuedRow[]>()];
    for (const row of rows) {
      const lane = this.lane(row.topic, row.partition);
      if (lane.held.has(row.key)) {
        const behind = lane.held.get(row.key);
        if (behind) behind.push(row);
        else append(held, lane, row);
      } else if (lane.parked && !lane.parked.leaving) append(waiting, lane, row);
      else {
        lane.push(row);
        touched.add(lane);
      }
    }
    for (const [lane, list] of held) this.options.onParked(lane, list, 'held');
    for (const [lane, list] of waiting) this.options.onParked(lane, list, 'waiting');
    for (const lane of touched) this.line(lane);
  }

  /** Publishing is allowed again (see `mayPublish`): the lines move on. */
  resume(): void {
    this.main.resume();
    this.quarantine.resume();
  }

  lane(topic: string, partition: number): Lane {
    let partitions = this.byTopic.get(topic);
    if (!partitions) this.byTopic.set(topic, (partitions = new Map<number, Lane>()));
    let lane = partitions.get(partition);
    if (!lane) partitions.set(partition, (lane = new Lane(topic, partition, this.options.maxMessageBytes)));
    return lane;
  }

  /** Lanes of these topics are parked as soon as they have rows and no send is outstanding. */
  stop(topics: ReadonlyMap<string, PartnerStop>): void {
    this.stopped = topics;
  }

  /** Why nothing is sent to the lane's partner now. */
  stopOf(lane: Lane): PartnerStop | undefined {
    return this.stopped.get(lane.topic);
  }

  /**
   * Sends parked rows of a lane before its own rows, as many of the first as one batch takes; own rows that are with the broker, or
   * failed there, go first. Rejects with {@link LaneFailure}. One call a lane at a time.
   */
  carry(lane: Lane, rows: readonly QueuedRow[]): Promise<Carried> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(new LaneFailure('closed', 'the relay stops'));
      lane.guest = {
        rows,
        settle: resolve,
        fail: (code, words) => reject(new LaneFailure(code, words)),
      };
      this.line(lane);
    });
  }

  /** Parks a lane: its rows wait in the database from now on, and those that follow. */
  park(lane: Lane, code: string, reason: string): void {
    lane.parked = { code, reason, leaving: false };
    const rows = lane.takeAll();
    // Rows of a key that wait for their turn here: no more goes through this lane now.
    lane.turnAway(code, reason);
    this.failures.over(lane);
    this.options.log.warn({ lane: lane.name, code, rows: rows.length, reason }, 'lane is parked; the others go on');
    if (rows.length > 0) this.options.onParked(lane, rows, 'waiting');
  }

  /** A parked lane stays parked: what came while it was about to leave follows. */
  stay(lane: Lane): void {
    if (!lane.parked?.leaving) return;
    lane.parked.leaving = false;
    const rows = lane.takeAll();
    if (rows.length > 0) this.options.onParked(lane, rows, 'waiting');
  }

  /** No row of it waits in the database any more: it flows. */
  unpark(lane: Lane): void {
    lane.parked = undefined;
    lane.well();
    this.options.log.info({ lane: lane.name }, 'lane is not parked any more: its rows are sent');
    this.line(lane);
  }

  /** A dead letter stays, or has come: rows of its key follow it into the database. */
  hold(lane: Lane, key: string): void {
    const rows = lane.hold(key);
    if (rows.length > 0) this.options.onParked(lane, rows, 'held');
  }

  /** No row of the key waits in the database any more. It stays held where another of its rows has died since. */
  release(lane: Lane, key: string): void {
    const rows = lane.held.get(key);
    if (!rows) return;
    lane.held.delete(key);
    this.add(rows);
  }

  /**
   * Takes up nothing more and resolves when no send is outstanding: only then may anyone else send to these partitions, since two
   * sends to one partition must never overlap in a process.
   */
  async close(): Promise<void> {
    this.closed = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    await Promise.all(this.outstanding);
    for (const lanes of this.byTopic.values()) for (const lane of lanes.values()) lane.turnAway('closed', 'closed');
  }

  /** Puts an idle lane that has rows into the line of its broker. */
  private line(lane: Lane): void {
    if (this.closed || lane.busy || this.standsAside(lane)) return;
    lane.busy = true;
    const slots = lane.failures > 0 || lane.parked ? this.quarantine : this.main;
    const leader = slots.publisher.leaderOf(lane.topic, lane.partition);
    void this.track(
      leader.then(
        (broker) => slots.enter(broker, lane),
        (error: unknown) => this.failed(lane, { ...lane.next(), rows: [] }, error),
      ),
    );
  }

  /** Has it nothing to send now? A lane whose partner is sent nothing is parked here. */
  private standsAside(lane: Lane): boolean {
    const stop = this.stopOf(lane);
    if (stop) lane.turnAway(stop.code, stop.words);
    if (lane.guest) return false;
    if (lane.parked || lane.length === 0) return true;
    if (!stop) return false;
    this.park(lane, stop.code, reasonOf(stop.code, stop.words));
    return true;
  }

  private async send(lane: Lane, publisher: LanePublisher): Promise<void> {
    if (this.standsAside(lane)) {
      lane.busy = false;
      return;
    }
    // Cut here with whose it is: while it is with the broker a guest may come.
    const batch = lane.next();
    const { topic, partition } = lane;
    let receipt: LaneReceipt;
    try {
      receipt = await publisher.send({ topic, partition, records: batch.rows.map((row) => row.record) });
    } catch (error) {
      this.failed(lane, batch, error);
      return;
    }
    this.succeeded(lane, batch, receipt);
  }

  private succeeded(lane: Lane, batch: Batch, receipt: LaneReceipt): void {
    this.acknowledged.note(lane, performance.now());
    this.failures.healed(lane);
    lane.acknowledged(batch);
    const { rows, guest } = batch;
    if (guest) guest.settle({ kind: 'sent', rows, receipt });
    else this.options.onSent(rows, receipt);
    lane.busy = false;
    this.line(lane);
  }

  /** The outcome is unknown: the same rows are sent again before anything else of the lane, or of their keys when they are parked ones. */
  private failed(lane: Lane, batch: Batch, error: unknown): void {
    const { code, refused } =
      error instanceof AppError
        ? { code: error.code, refused: !error.retriable }
        : { code: 'not-acknowledged', refused: false };
    const words = messageOf(error);
    this.options.onFailed(lane.topic);
    const pause = lane.failed({ code, words, refused }, batch, performance.now());
    const { rows, guest } = batch;
    const [first] = rows;
    if (pause === 'dead' && first) this.died(lane, first, guest, { code, detail: reasonOf(code, words) });
    // What is wrong with a record is not the lane's.
    else if (refused) this.again(lane, Number(pause));
    else if (guest) this.giveBack(lane, code, words, Number(pause));
    else if (!this.parks(lane)) this.again(lane, Number(pause));
  }

  /** A record of which the broker has said for good that it will not take it: it holds its key, the rest flows. */
  private died(lane: Lane, row: QueuedRow, guest: Guest | undefined, death: Death): void {
    this.failures.healed(lane);
    lane.well();
    if (guest) {
      lane.guest = undefined;
      guest.settle({ kind: 'dead', row, code: death.code, words: death.detail });
    } else {
      this.options.log.warn(
        { lane: lane.name, code: death.code, seq: String(row.seq), message_id: row.record.headers['ce_id'] },
        'the broker refuses this record for good: it is a dead letter and holds its key',
      );
      this.options.onParked(lane, lane.hold(row.key), 'held', death);
    }
    lane.busy = false;
    this.line(lane);
  }

  private giveBack(lane: Lane, code: string, words: string, pauseMs: number): void {
    if (!lane.parked) this.failures.note(lane);
    this.again(lane, pauseMs);
    lane.turnAway(code, words);
  }

  private parks(lane: Lane): boolean {
    if (this.closed) return false;
    const now = performance.now();
    const verdict = judge(
      {
        failures: lane.failures,
        failingForMs: now - lane.failingSince,
        rows: lane.length,
        code: lane.code,
        othersSentAgoMs: this.acknowledged.othersAgo(lane, now),
        full: this.options.isFull(),
      },
      this.options.parking,
    );
    if (verdict === 'park') {
      lane.busy = false;
      this.park(lane, lane.code, reasonOf(lane.code, lane.error));
      return true;
    }
    this.failures.note(lane, verdict === 'broker');
    return false;
  }

  private again(lane: Lane, pauseMs: number): void {
    if (this.closed) return;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      lane.busy = false;
      this.line(lane);
    }, pauseMs);
    this.timers.add(timer);
  }

  private track(work: Promise<void>): Promise<void> {
    this.outstanding.add(work);
    void work.finally(() => this.outstanding.delete(work));
    return work;
  }
}

function append(lists: Map<Lane, QueuedRow[]>, lane: Lane, row: QueuedRow): void {
  const list = lists.get(lane);
  if (list) list.push(row);
  else lists.set(lane, [row]);
}
