import type { Logger } from '../../platform/telemetry';
import type { Lane } from './lane';

/** A lane that fails now and is not parked. */
export interface LaneTrouble {
  topic: string;
  partition: number;
  rows: number;
  failures: number;
  code: string;
  error: string;
  failingForMs: number;
}

/** More failing lanes than this are one event (a broker), not many: they are counted, not listed. */
const MOST_LINES = 5;

/** Which lanes fail, and the log's lines about it: one when it begins, one when it ends. */
export class LaneFailures {
  private readonly failing = new Set<Lane>();
  private brokerFails = false;

  constructor(private readonly log: Pick<Logger, 'info' | 'warn' | 'debug'>) {}

  list(): LaneTrouble[] {
    const now = performance.now();
    return [...this.failing].map(({ topic, partition, length, failures, code, error, failingSince }) => {
      return { topic, partition, rows: length, failures, code, error: error ?? '', failingForMs: now - failingSince };
    });
  }

  /** @param brokerFails it would be parked, but no other lane is acknowledged */
  note(lane: Lane, brokerFails = false): void {
    if (!this.failing.has(lane)) {
      this.failing.add(lane);
      const level = this.failing.size <= MOST_LINES ? 'warn' : 'debug';
      this.log[level](
        { lane: lane.name, code: lane.code, error: lane.error, failing: this.failing.size },
        'lane fails; its rows wait in order and are tried again',
      );
    }
    if (brokerFails && !this.brokerFails) {
      this.brokerFails = true;
      this.log.warn(
        { failing: this.failing.size, code: lane.code, error: lane.error },
        'no lane is acknowledged: this is the broker and no lane of its own, so nothing is parked; rows wait in the outbox',
      );
    }
  }

  /** Its batch was acknowledged, or its offender is dead. */
  healed(lane: Lane): void {
    this.brokerFails = false;
    if (!this.failing.delete(lane) || this.failing.size >= MOST_LINES) return;
    this.log.info({ lane: lane.name, attempt: lane.failures + 1, failing: this.failing.size }, 'lane sends again');
  }

  /** It is parked. */
  over(lane: Lane): void {
    this.failing.delete(lane);
  }
}
