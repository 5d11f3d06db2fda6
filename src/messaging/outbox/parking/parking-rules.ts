import type { BackoffPolicy } from '../../../platform/polling';

export interface ParkingTimes {
  /** A lane that fails for so long is parked, ms. Longer than a leader's election. */
  afterMs: number;
  /** More rows than this in memory: parked with its second failure. */
  rows: number;
  /**
   * Only while another lane was acknowledged within this time, ms, and since this one began to fail: else it is the broker that fails,
   * and the cursor waits.
   */
  othersWithinMs: number;
  /** Pauses between two attempts to drain a parked lane. */
  backoff: BackoffPolicy;
  /** How often the owner looks for what staff have decided and for lanes that are due, ms. */
  lookMs: number;
}

export const PARKING_TIMES: ParkingTimes = {
  afterMs: 10_000,
  rows: 2000,
  othersWithinMs: 10_000,
  backoff: { initialMs: 1000, maxMs: 30_000 },
  lookMs: 1000,
};

/** A lane that has just failed. */
export interface FailingLane {
  failures: number;
  failingForMs: number;
  rows: number;
  code: string;
  /** Since another lane was acknowledged, ms. */
  othersSentAgoMs: number;
  /** Nothing more may be read until something is acknowledged or parked. */
  full: boolean;
}

/** What the broker says of one topic. It answers, so it is up. */
const OF_THE_TOPIC = new Set(['topic-missing', 'partition-missing', 'not-authorized']);

/**
 * `wait`: tried again in memory. `broker`: it would be parked, but no other lane is acknowledged, so nothing speaks for the
 * lane's own fault. A lane that alone fills the memory (a backlog of one topic, met at the start) can't be told from a
 * broker's outage by the acknowledgement of others, since no row of others is read any more: there the broker's own word about the topic decides.
 */
export function judge(lane: FailingLane, times: ParkingTimes): 'wait' | 'park' | 'broker' {
  const enough = lane.failingForMs >= times.afterMs || (lane.failures >= 2 && (lane.rows > times.rows || lane.full));
  if (!enough) return 'wait';
  // Since it began to fail: what was acknowledged before says nothing of a broker that has gone since.
  if (lane.othersSentAgoMs <= times.othersWithinMs && lane.othersSentAgoMs < lane.failingForMs) return 'park';
  return lane.full && OF_THE_TOPIC.has(lane.code) ? 'park' : 'broker';
}

/** When lanes were last acknowledged, with the one question that parking asks. */
export class Acknowledgements<Lane> {
  private last: { lane: Lane; at: number } | undefined;
  /** The last one of any lane but `last.lane`. */
  private before: { lane: Lane; at: number } | undefined;

  note(lane: Lane, now: number): void {
    if (this.last?.lane === lane) {
      this.last.at = now;
      return;
    }
    this.before = this.last;
    this.last = { lane, at: now };
  }

  /** How long ago a lane other than this one was acknowledged, ms; Infinity when never. */
  othersAgo(lane: Lane, now: number): number {
    const other = this.last?.lane === lane ? this.before : this.last;
    return other ? now - other.at : Number.POSITIVE_INFINITY;
  }
}
