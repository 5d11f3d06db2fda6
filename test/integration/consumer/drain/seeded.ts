export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** One of the names, as often as its number says. */
  weighted<T extends string>(weights: Partial<Record<T, number>>): T;
}

/** Numbers that look random and are the same for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return {
    below,
    weighted: <T extends string>(weights: Partial<Record<T, number>>): T => {
      const entries = Object.entries<number | undefined>(weights) as [T, number][];
      let left = below(entries.reduce((sum, [, weight]) => sum + weight, 0));
      return (entries.find(([, weight]) => (left -= weight) < 0) as [T, number])[0];
    },
  };
}
