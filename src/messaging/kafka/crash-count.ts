import { codeOf, rootOf } from './publish-error';

const LIMIT = 5;
const WINDOW_MS = 10 * 60_000;

/** Can a broker that is away, moving or restarting explain it? kafkajs marks what heals by waiting as retriable. */
export function comesFromTheBroker(error: unknown): boolean {
  return codeOf(error) === 'broker-unreachable' || (rootOf(error) as { retriable?: boolean }).retriable === true;
}

/** Crashes that only a fault on our side explains: one may be chance, several in a row are not healed by joining again. */
export class CrashCount {
  private times: number[] = [];

  /** Takes note of one; true when the process should be ended. */
  add(now: number): boolean {
    this.times = [...this.times.filter((time) => now - time < WINDOW_MS), now];
    return this.times.length >= LIMIT;
  }
}
