import type { Database } from '../../../platform/database';

/** Messages to a partner that the broker will never take as they are, by cause. */
export interface DeadOutbound {
  partner: string;
  code: string;
  count: number;
  /** When the oldest and the newest of them were refused. */
  oldest: Date;
  newest: Date;
}

/** A walk over what is parked and doesn't wait: hardly any row ever is. */
export function deadOutbound(database: Database): Promise<DeadOutbound[]> {
  return database.query<DeadOutbound>(
    `SELECT c.partner, coalesce(p.code, 'unknown') AS code, count(*)::int AS count, min(p.parked_at) AS oldest, max(p.parked_at) AS newest
     FROM parked_outbound p JOIN channel c ON c.topic = p.topic WHERE p.state <> 'waiting' AND p.state = 'dead' GROUP BY 1, 2`,
  );
}
