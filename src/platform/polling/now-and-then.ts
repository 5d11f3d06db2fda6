import { messageOf } from '../errors';
import { sleep } from './sleep';

/** At most one part in so many of the time is spent looking: where there is much to look at, what is known is older. */
const SHARE = 20;
/** Of a look that failed: mostly it has waited for a database that is away, which costs that nothing; and what is shown is old by then. */
const FAILED_SHARE = 4;
/** Until something was seen, there is nothing to show: the database may not be there yet. */
const FIRST_MS = 1_000;

export interface Repetition {
  /** On average: each pause is up to half longer or shorter, so that the processes of an installation don't look at once. */
  everyMs: number;
  signal: AbortSignal;
  /**
   * Called when it begins to fail, and when it fails for another reason than before: each once until it succeeds; not for what the signal broke
   * off. Absent: the work says itself what is wrong.
   */
  onFailure?: (error: unknown) => void;
}

/** Looks again and again, for something to show, until the signal aborts. Pauses grow with what a look takes. */
export async function nowAndThen(look: () => Promise<unknown>, { everyMs, ...rest }: Repetition): Promise<void> {
  await repeat(look, rest, (tookMs, past) => pauseAfterLook(tookMs, everyMs, past));
}

export const pauseAfterLook = (tookMs: number, everyMs: number, { seen, failing }: Past): number =>
  Math.max(seen ? everyMs : Math.min(FIRST_MS, everyMs), (failing ? FAILED_SHARE : SHARE) * tookMs);

/** Works again and again until the signal aborts. Pauses don't grow with the work: it would never catch up. */
export async function regularly(work: () => Promise<unknown>, { everyMs, ...rest }: Repetition): Promise<void> {
  await repeat(work, rest, () => everyMs);
}

/** {@link regularly}, and with a pause before the first time, too: of work that can wait. */
export async function sweeping(work: () => Promise<unknown>, repetition: Repetition): Promise<void> {
  await sleep(spread(repetition.everyMs), repetition.signal);
  await regularly(work, repetition);
}

interface Past {
  /** It has succeeded, if only once. */
  seen: boolean;
  /** It failed last. */
  failing: boolean;
}

async function repeat(
  work: () => Promise<unknown>,
  { signal, onFailure }: Omit<Repetition, 'everyMs'>,
  pauseAfter: (tookMs: number, past: Past) => number,
): Promise<void> {
  let seen = false;
  // Behind an outage may stand what nobody mends unless it is told.
  const reasons = new Set<string>();
  while (!signal.aborted) {
    const began = performance.now();
    try {
      await work();
      seen = true;
      reasons.clear();
    } catch (error) {
      const reason = messageOf(error);
      if (!reasons.has(reason) && !signal.aborted) onFailure?.(error);
      reasons.add(reason);
    }
    await sleep(spread(pauseAfter(performance.now() - began, { seen, failing: reasons.size > 0 })), signal);
  }
}

const spread = (ms: number): number => ms * (0.5 + Math.random());
