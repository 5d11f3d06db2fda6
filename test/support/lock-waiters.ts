import type { Database } from '../../src/platform/database';

/** How many sessions of this database wait for a lock. */
export async function countLockWaiters(database: Pick<Database, 'query'>): Promise<number> {
  const waiting = await database.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return waiting.length;
}
