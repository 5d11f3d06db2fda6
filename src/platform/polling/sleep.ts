import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after `ms`, or at once when the signal aborts; never rejects, so that loops can look at the signal themselves. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal ? { signal } : undefined);
  } catch {
    // Aborted: the caller's loop condition decides.
  }
}
