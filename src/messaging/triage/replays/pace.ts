/** What one step may release, and from when on the next one may. Seconds since the epoch, by the database's clock. */
export interface Allowance {
  count: number;
  /** Given how many were released. */
  nextAt(released: number): number;
}

/** How much of a standstill is caught up with at once, seconds: a new owner after an hour must not send an hour's worth. */
const BURST_S = 0.5;

/**
 * Token bucket as one number, the time of the next token (GCRA): kept in the replay's row, so that whoever takes over goes on at
 * the pace. `pace` null: `most` each time.
 */
export function allowance(pace: number | null, nextAt: number, now: number, most: number): Allowance {
  if (pace === null) return { count: most, nextAt: () => now };
  const from = Math.max(nextAt, now - BURST_S);
  // A thousandth of a token for what doubles lose.
  const due = now < from ? 0 : Math.floor((now - from) * pace + 1e-3) + 1;
  return { count: Math.min(most, due), nextAt: (released) => from + released / pace };
}
