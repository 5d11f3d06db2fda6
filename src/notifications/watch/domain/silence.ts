/** What is known of a partner that may be silent. */
export interface Listening {
  watchedSince: Date;
  lastMessageAt: Date | null;
  /** Since when it is neither paused nor suspended; null: it never was. Undefined: it is. */
  activeSince: Date | null | undefined;
  /** As it was found before. */
  silentSince: Date | null;
  /** Answers that it owes us; undefined: none. */
  awaited: { count: number; oldest: Date; readUpTo: Date | null } | undefined;
}

/** `begins`: nothing has come since then although something was waited for; `goes-on`: as it was found before; `none`: it is not silent. */
export type Silence = { kind: 'begins'; since: Date; count: number } | { kind: 'goes-on' } | { kind: 'none' };

const NONE: Silence = { kind: 'none' };

/** When its silence can have begun at the earliest, whatever it owes us. */
export const heardBy = ({ watchedSince, lastMessageAt, activeSince }: Omit<Listening, 'awaited'>): Date =>
  latest(lastMessageAt ?? watchedSince, activeSince ?? watchedSince);

/**
 * A silence ends with the first message, with the last answer that is waited for, and when the partner is stopped; until then it is the same one,
 * whichever requests are withdrawn or made meanwhile. What was not read by us is not held against the partner.
 */
export function silenceOf(listening: Listening, now: Date, forMs: number): Silence {
  const { activeSince, awaited, silentSince } = listening;
  if (activeSince === undefined || !awaited) return NONE;
  const heard = heardBy(listening);
  if (silentSince && heard <= silentSince) return { kind: 'goes-on' };
  const since = latest(heard, awaited.oldest);
  const over = since.getTime() + forMs;
  if (now.getTime() < over || !awaited.readUpTo || awaited.readUpTo.getTime() < over) return NONE;
  return { kind: 'begins', since, count: awaited.count };
}

const latest = (...dates: readonly Date[]): Date => new Date(Math.max(...dates.map((date) => date.getTime())));
