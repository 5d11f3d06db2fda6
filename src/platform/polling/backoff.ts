export interface BackoffPolicy {
  /** First pause in milliseconds. */
  initialMs: number;
  /** Upper bound of a pause in milliseconds. */
  maxMs: number;
}

/**
 * Exponential backoff with full jitter (AWS Architecture Blog, "Exponential Backoff and Jitter"): a number of
 * milliseconds between half and the whole of `initialMs * 2^(attempt-1)`, capped. `attempt` counts from 1; `random` is in [0, 1).
 */
export function backoffMs(policy: BackoffPolicy, attempt: number, random: number = Math.random()): number {
  const ceiling = Math.min(policy.maxMs, policy.initialMs * 2 ** Math.min(30, Math.max(0, attempt - 1)));
  return Math.round(ceiling * (0.5 + random / 2));
}
