import { MASK } from '../../contracts';
import type { NotificationKind } from '../domain/kind';
import type { NotificationData } from '../domain/notification';

/**
 * What a notification tells, for who has not said why they have to see it. Of what Parley tells in its own words: all, since that holds no personal
 * data. What another system asked for is personal, whatever it says. A kind that is known no more may have been anything.
 */
export function shownData(kind: NotificationKind | undefined, data: NotificationData): Record<string, unknown> | null {
  if (kind?.secret === true) return null;
  if (kind && kind.source !== 'request') return { ...data };
  return Object.fromEntries(Object.keys(data).map((name) => [name, MASK]));
}
