import type { Logger } from '../../platform/telemetry';
import { AppError, messageOf } from '../../platform/errors';
import type { LanePublisher, LaneReceipt } from '../kafka';
import { Lane } from './lane';
import type { QueuedRow } from './queued-row';

export interface LanesOptions {
  publisher: LanePublisher;
  /** `max.message.bytes` of a topic, if known. */
  maxMessageBytes: (topic: string) => number | undefined;
  log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  /** Rows that the broker has, in the order in which they were sent. */
  onSent: (rows: readonly QueuedRow[], receipt: LaneReceipt) => void;
  /** A batch failed, for metrics. */
  onFailed: (topic: string) => void;
  /** Asked before each send: has the relay still the right to publish, as far as it can know? */
  mayPublish: () => boolean;
}

/** One broker: at most one send to it is outstanding, whatever the number of lanes. */
interface Slot {
  busy: boolean;
  ready: Lane[];
}

/** More failing lanes than this are one event (a broker), not many: they are counted, not listed. */
const MOST_LINES = 5;

/**
 * All lanes and the slots through which they send. kafkajs' idempotent producer never runs two sends to a broker side by
 * side; a lane that hands over its rows early would freeze a tiny batch in that queue. So a lane waits in its broker's line, and
 * its batch is cut when its turn comes: the longer the line, the larger the batches.
 */
export class Lanes {
  private readonly byTopic = new Map<string, Map<number, Lane>>();
  private readonly slots = new Map<number, Slot>();
  private readonly failing = new Set<Lane>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly outstanding = new Set<Promise<void>>();
  private closed = false;

  constructor(private readonly options: LanesOptions) {}

  /** Lanes that fail now, with the last error of each, in one sentence. */
  get troubles(): { topic: string; partition: number; rows: number; failures: number; error: string }[] {
    return [...this.failing].map(({ topic, partition, length, failures, error }) => {
      return { topic, partition, rows: length, failures, error: error ?? '' };
    });
  }

  /** Appends rows to their lanes, in order. */
  add(rows: readonly QueuedRow[]): void {
    const touched = new Set<Lane>();
    for (const row of rows) {
      const lane = this.lane(row.topic, row.partition);
      lane.push(row);
      touched.add(lane);
    }
    for (const lane of touched) this.line(lane);
  }

  /** Publishing is allowed again (see `mayPublish`): the lines move on. */
  resume(): void {
    for (const slot of this.slots.values()) this.pump(slot);
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
  }

  private lane(topic: string, partition: number): Lane {
    let partitions = this.byTopic.get(topic);
    if (!partitions) this.byTopic.set(topic, (partitions = new Map<number, Lane>()));
    let lane = partitions.get(partition);
    if (!lane) partitions.set(partition, (lane = new Lane(topic, partition, this.options.maxMessageBytes)));
    return lane;
  }

  /** Puts an idle lane that has rows into the line of its broker. */
  private line(lane: Lane): void {
    if (this.closed || lane.busy || lane.length === 0) return;
    lane.busy = true;
    this.track(
      this.options.publisher.leaderOf(lane.topic, lane.partition).then(
        (broker) => {
          let slot = this.slots.get(broker);
          if (!slot) this.slots.set(broker, (slot = { busy: false, ready: [] }));
          slot.ready.push(lane);
          this.pump(slot);
        },
        (error: unknown) => this.failed(lane, error, 0),
      ),
    );
  }

  private pump(slot: Slot): void {
    if (slot.busy || this.closed || !this.options.mayPublish()) return;
    const lane = slot.ready.shift();
    if (!lane) return;
    slot.busy = true;
    this.track(
      this.send(lane).finally(() => {
        slot.busy = false;
        this.pump(slot);
      }),
    );
  }

  private async send(lane: Lane): Promise<void> {
    const rows = lane.next();
    const { topic, partition } = lane;
    let receipt: LaneReceipt;
    try {
      receipt = await this.options.publisher.send({ topic, partition, records: rows.map((row) => row.record) });
    } catch (error) {
      this.failed(lane, error, rows.length);
      return;
    }
    this.succeeded(lane, rows, receipt);
  }

  private succeeded(lane: Lane, rows: readonly QueuedRow[], receipt: LaneReceipt): void {
    const failures = lane.failures;
    lane.acknowledged(rows.length);
    if (this.failing.delete(lane) && (this.failing.size === 0 || this.failing.size < MOST_LINES)) {
      this.options.log.info({ lane: lane.name, attempt: failures + 1, failing: this.failing.size }, 'lane sends again');
    }
    this.options.onSent(rows, receipt);
    lane.busy = false;
    this.line(lane);
  }

  /** The outcome is unknown: the same rows are sent again, before anything else of the lane. */
  private failed(lane: Lane, error: unknown, size: number): void {
    const code = error instanceof AppError ? error.code : undefined;
    this.options.onFailed(lane.topic);
    const pause = lane.failed(messageOf(error), { size, tooLarge: code === 'message-too-large' });
    if (!this.failing.has(lane)) {
      this.failing.add(lane);
      const level = this.failing.size <= MOST_LINES ? 'warn' : 'debug';
      this.options.log[level](
        { lane: lane.name, code, error: lane.error, failing: this.failing.size },
        'lane fails; its rows wait in order and are tried again',
      );
    }
    if (this.closed) return;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      lane.busy = false;
      this.line(lane);
    }, pause);
    this.timers.add(timer);
  }

  private track(work: Promise<void>): void {
    this.outstanding.add(work);
    void work.finally(() => this.outstanding.delete(work));
  }
}
