const HOUR_MS = 3_600_000;

/** When something has died since people were told, and when nothing has. */
export const TOLD_AGAIN_MS = { died: HOUR_MS, open: 24 * HOUR_MS };

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
