import { type Database, IndexedReader } from '../../platform/database';
import { deadOutbound } from '../outbox';

/** Dead letters of one partner and cause that need somebody. */
export interface OpenDeadLetters {
  partner: string;
  code: string;
  count: number;
  /** When the oldest and the newest of them died. */
  oldest: Date;
  newest: Date;
}

/** In both directions. The partners' come from the index alone, so that what is resolved costs nothing. */
export async function openDeadLetters(database: Database): Promise<OpenDeadLetters[]> {
  const inbound = await new IndexedReader(database).rows<OpenDeadLetters>(
    `SELECT partner, coalesce(code, 'unknown') AS code, count(*)::int AS count, min(last_failed_at) AS oldest, max(last_failed_at) AS newest
     FROM parked_inbound WHERE state = 'dead' AND last_failed_at IS NOT NULL GROUP BY 1, 2`,
  );
  return [...inbound, ...(await deadOutbound(database))];
}
