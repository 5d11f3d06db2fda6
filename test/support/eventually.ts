import { setTimeout as delay } from 'node:timers/promises';

export interface EventuallyOptions {
  /** ms; default 40 s: a passing test never waits for it, and a busy machine is slow. */
  timeout?: number;
  /** ms between two looks; default 20. */
  interval?: number;
  /** What is waited for, for the message. */
  what?: string;
}

/**
 * Looks again until `condition` gives a value that is not false, null or undefined, and returns it. An expectation that
 * throws counts as "not yet". On timeout the error says what was waited for and what was seen last.
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  { timeout = 40_000, interval = 20, what }: EventuallyOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const start = Date.now();
  let last: unknown;
  for (;;) {
    try {
      last = await condition();
      if (last !== false && last !== null && last !== undefined) return last as Exclude<T, false | null | undefined>;
    } catch (error) {
      last = error;
    }
    if (Date.now() - start >= timeout) break;
    await delay(interval);
  }
  const seen = last instanceof Error ? last.message : String(last);
  throw new Error(
    `Not within ${timeout} ms: ${what ?? condition.toString()}\nSeen last: ${seen}`,
    last instanceof Error ? { cause: last } : undefined,
  );
}
