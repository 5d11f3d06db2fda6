const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** When something has died since people were told, and when nothing has. */
const TOLD_AGAIN_MS = { died: HOUR_MS, open: 24 * HOUR_MS };
/** Partners of which people are told one by one within an hour. More are a storm: one cause, that is ours most of the time. */
export const FEW = 3;
/** In a storm people hear so often at most. */
export const STORM_PAUSE_MS = 5 * MINUTE_MS;

/** What people were told of a partner's dead letters last; null: nothing yet. */
export interface ToldOfDead {
  toldAt: Date | null;
  newestAt: Date | null;
}

/** Are people to be told of dead letters that are open, the newest of which died then? At once, but once an hour at most; and once a day while any is open. */
export function isDeadLetterNoticeDue({ toldAt, newestAt }: ToldOfDead, newest: Date, now: Date): boolean {
  if (!toldAt || !newestAt) return true;
  return now.getTime() - toldAt.getTime() >= (newest > newestAt ? TOLD_AGAIN_MS.died : TOLD_AGAIN_MS.open);
}

/**
 * How people are told of so many partners: of each `alone`, of all `together`, or `later`, together with those whose letters die until then.
 * @param tellings when people were last told of each partner, whichever it is
 */
export function mannerOfTelling(due: number, tellings: readonly Date[], now: Date): 'alone' | 'together' | 'later' {
  const ago = tellings.map((at) => now.getTime() - at.getTime()).filter((ms) => ms < HOUR_MS);
  if (ago.length + due <= FEW) return 'alone';
  return Math.min(...ago) < STORM_PAUSE_MS ? 'later' : 'together';
}
