import { infrastructureOf } from './failure';

export interface Halving<T> {
  /** Brings all of them to their outcomes, or none. */
  attempt(items: readonly T[]): Promise<void>;
  /** What is done about the one that is left alone with its error. */
  alone(item: T, error: unknown): Promise<void>;
  split(error: unknown, count: number): void;
}

/**
 * An exception halves a batch down to the offender: one of n costs about twice log2 n attempts. The first half is done before the second
 * begins, so that order holds. An outage of ours is nobody's offence and rejects.
 */
export async function inHalves<T>(items: readonly T[], halving: Halving<T>): Promise<void> {
  try {
    await halving.attempt(items);
  } catch (error) {
    if (infrastructureOf(error)) throw error;
    const [only] = items;
    if (items.length === 1 && only !== undefined) return halving.alone(only, error);
    halving.split(error, items.length);
    const middle = items.length >> 1;
    await inHalves(items.slice(0, middle), halving);
    await inHalves(items.slice(middle), halving);
  }
}
