import type { Database } from '../../platform/database';

/**
 * When partners' messages were last taken, of those since `since` (and no later than `until`). A range of the inbox's BRIN index: costs what
 * came in it.
 */
export function lastReceived(database: Database, since: Date, until?: Date): Promise<{ partner: string; at: Date }[]> {
  return database.query<{ partner: string; at: Date }>(
    `SELECT c.partner, max(i.received_at) AS at FROM inbox i JOIN channel c ON c.id = i.channel_id
     WHERE i.received_at > :since AND i.received_at <= coalesce(:until::timestamptz, 'infinity') GROUP BY 1`,
    { since, until: until ?? null },
  );
}
