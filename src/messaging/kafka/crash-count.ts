import { connectionTrouble } from './connection-trouble';
import { codeOf, rootOf } from './publish-error';

const LIMIT = 5;
const WINDOW_MS = 10 * 60_000;

/**
 * Can a broker that is away, moving, restarting or not letting us in explain it? To start the process anew would heal none of it.
 * kafkajs marks what heals by waiting as retriable.
 */
export function comesFromTheBroker(error: unknown): boolean {
  const away = connectionTrouble(error) !== undefined || codeOf(error) === 'broker-unreachable';
  return away || (rootOf(error) as { retriable?: boolean }).retriable === true;
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
