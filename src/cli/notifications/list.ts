import type { NotificationDto } from '../../notifications';
import { ApiClient } from '../api-client';
import { list } from '../listing';
import { hint } from '../output';
import type { Column } from '../terminal/table';
import { localTime, localTimes } from '../terminal/words';
import { type SelectionOptions, selectionOf } from './selection';

const COLUMNS: readonly Column<NotificationDto>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATE', of: ({ state, doubtful }) => (doubtful && state !== 'unknown' ? `${state}, in doubt` : state) },
  { title: 'KIND', of: ({ kind }) => kind },
  { title: 'CHANNEL', of: ({ channel }) => channel },
  { title: 'TO', of: receiverOf, most: 24 },
  { title: 'ABOUT', of: ({ orderNumber, partner }) => [partner, orderNumber].filter(Boolean).join('/'), most: 40 },
  { title: 'HAPPENED', of: ({ happenedAt }) => localTime(happenedAt) },
  { title: 'TRIES', of: ({ attempts }) => attempts },
  { title: 'STANDING', of: ({ standing }) => localTimes(standing) },
];

/** A receiver by its id, or `an address`. */
export function receiverOf({ receiver }: Pick<NotificationDto, 'receiver'>): string {
  return receiver?.id ?? 'an address';
}

export async function listNotifications(options: SelectionOptions & { limit: number; json: boolean }): Promise<void> {
  const { limit, json } = options;
  const query = selectionOf(options);
  const filtered = Object.values(query).some((value) => value !== undefined);
  const items = await list<NotificationDto>(ApiClient.fromEnvironment(), {
    path: '/v1/notifications',
    ...{ query, columns: COLUMNS, limit, json },
    none: filtered
      ? 'No such notifications. Without options: parley notifications list'
      : 'No notifications. Who is told of what: parley notifications receivers list',
  });
  const unknown = items.find(({ state }) => state === 'unknown');
  const [first] = items;
  if (json || !first) return;
  if (unknown) hint(`Nobody knows whether some of them went out. Next: parley notifications show ${unknown.id}`);
  else hint(`Next: parley notifications show ${first.id}`);
}
