import { sleep } from './sleep';

/** At most one part in so many of the time is spent looking: where there is much to look at, what is known is older. */
const SHARE = 20;

/** The pause behind a look that took so long, ms. */
export const pauseAfter = (tookMs: number, everyMs: number): number => Math.max(everyMs, SHARE * tookMs);

export interface NowAndThen {
  everyMs: number;
  signal: AbortSignal;
  /** Called when looks begin to fail, once until one succeeds; not for what the signal broke off. */
  onFailure: (error: unknown) => void;
}

/** Looks again and again until the signal aborts; a look that fails is tried again after the same pause. */
export async function nowAndThen(look: () => Promise<void>, { everyMs, signal, onFailure }: NowAndThen): Promise<void> {
  let failing = false;
  while (!signal.aborted) {
    const began = performance.now();
    try {
      await look();
      failing = false;
    } catch (error) {
      if (!failing && !signal.aborted) onFailure(error);
      failing = true;
    }
    await sleep(pauseAfter(performance.now() - began, everyMs), signal);
  }
}
