import { type Database, ifFree } from '../platform/database';
import { AppError } from '../platform/errors';

/**
 * Runs `work` while nobody else changes this partner at the broker: onboarding, rotation and retirement would undo each other. Not waited for:
 * throws `partner-busy`.
 */
export async function withPartnerLock<T>(database: Database, partner: string, work: () => Promise<T>): Promise<T> {
  const done = await ifFree(database, `partner/${partner}`, async () => ({ result: await work() }));
  if (done) return done.result;
  throw new AppError('partner-busy', `Somebody else is changing the partner ${partner} at the broker.`, {
    hint: `Wait until that is done, look at it with "parley partner show ${partner}", and try again.`,
    retryAfter: 5,
  });
}
