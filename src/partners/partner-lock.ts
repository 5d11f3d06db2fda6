import type { Database } from '../platform/database';
import { AppError } from '../platform/errors';

/** First key of the advisory locks under which a partner is changed at the broker; the second is a hash of its id. */
const PARTNER_LOCK = 0x7061;

/**
 * Runs `work` while nobody else changes this partner at the broker: onboarding, rotation and retirement would undo each other. Not waited for:
 * throws `partner-busy`. The lock is the connection's, so it ends with a process that dies.
 */
export async function withPartnerLock<T>(database: Database, partner: string, work: () => Promise<T>): Promise<T> {
  const runner = database.dataSource.createQueryRunner();
  try {
    const [row] = await runner.manager.query<{ locked: boolean }[]>(
      'SELECT pg_try_advisory_lock($1, hashtext($2)) AS locked',
      [PARTNER_LOCK, partner],
    );
    if (!row?.locked) {
      throw new AppError('partner-busy', `Somebody else is changing the partner ${partner} at the broker.`, {
        hint: 'Wait until that is done, look at it with "parley partner show", and try again.',
        retryAfter: 5,
      });
    }
    try {
      return await work();
    } finally {
      await runner.manager
        .query('SELECT pg_advisory_unlock($1, hashtext($2))', [PARTNER_LOCK, partner])
        .catch(() => undefined);
    }
  } finally {
    await runner.release();
  }
}
