export interface BackoffPolicy {
  /** Upper end of the first pause in milliseconds; it doubles. */
  initialMs: number;
  /** Upper end of every pause in milliseconds. */
  maxMs: number;
}

/** The least pause is this part of the longest: full jitter may draw nothing, and what has just failed would be tried at once. */
const FLOOR = 1 / 20;

/**
 * Exponential backoff with full jitter (AWS Architecture Blog, "Exponential Backoff and Jitter"): any number of milliseconds up to
 * `initialMs * 2^(attempt-1)`, capped, above a small floor, so that what failed together does not come back
 * together. `attempt` counts from 1; `random` is in [0, 1).
 */
export function backoffMs(policy: BackoffPolicy, attempt: number, random: number = Math.random()): number {
  const ceiling = Math.min(policy.maxMs, policy.initialMs * 2 ** Math.min(30, Math.max(0, attempt - 1)));
  return Math.max(1, Math.round(ceiling * (FLOOR + (1 - FLOOR) * random)));
}
