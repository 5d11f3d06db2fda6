import type { Clock } from '../platform/clock';
import type { Config } from '../platform/config';
import type { Database } from '../platform/database';
import { messageOf } from '../platform/errors';
import { BackgroundLoop, sweeping } from '../platform/polling';
import type { Logger } from '../platform/telemetry';
import { cancelWaiting } from './receivers/moves';

const EVERY_MS = 60_000;
const DAY_MS = 86_400_000;
/** Rows of one transaction: short enough to hold nobody up. */
const BATCH = 1_000;

/**
 * Deletes notifications, with their attempts, that were settled NOTIFICATION_RETENTION_DAYS ago, and ends what waits for receivers that are gone. State
 * before age: what waits, is being sent or is unknown stays. Marks of addresses end as old. In processes with the role notifier; several may do it at once.
 */
export class Retention extends BackgroundLoop {
  constructor(
    private readonly database: Database,
    private readonly config: Pick<Config, 'roles' | 'notificationRetentionDays'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  /** Looks once. */
  async pass(): Promise<{ deleted: number; cancelled: number }> {
    const now = this.clock.now();
    const cancelled = await this.cancelForsaken(now);
    const before = new Date(now.getTime() - this.config.notificationRetentionDays * DAY_MS);
    await this.forgetMarks(before);
    for (let deleted = 0; ;) {
      const last = await this.deleteSettled(before);
      deleted += last;
      if (last < BATCH || this.isStopping) return { deleted, cancelled };
    }
  }

  /** Nobody waits for a row that somebody holds; the next pass finds it. */
  private async deleteSettled(before: Date): Promise<number> {
    const gone = await this.database.statement(
      `WITH gone AS (
         DELETE FROM notification WHERE id IN (
           SELECT id FROM notification WHERE created_at < :before AND settled_at < :before AND state IN ('sent', 'failed', 'cancelled', 'expired')
           ORDER BY created_at LIMIT :most FOR UPDATE SKIP LOCKED)
         RETURNING 1)
       SELECT 1 FROM gone`,
      { before, most: BATCH },
    );
    return gone.length;
  }

  /** An address that was refused so long ago is tried once more: it may be somebody's again, and none is kept for ever. */
  private async forgetMarks(before: Date): Promise<void> {
    await this.database.statement('DELETE FROM notification_bad_address WHERE since < :before', { before });
  }

  /** A transaction that told its receiver something did not see that it was just being removed. Steps from receiver to receiver through their index. */
  private async cancelForsaken(now: Date): Promise<number> {
    const forsaken = await this.database.query<{ receiver: string }>(
      `WITH RECURSIVE waiting AS (
         (SELECT receiver FROM notification WHERE state = 'pending' AND receiver IS NOT NULL ORDER BY receiver LIMIT 1)
         UNION ALL
         SELECT (SELECT n.receiver FROM notification n WHERE n.state = 'pending' AND n.receiver > w.receiver ORDER BY n.receiver LIMIT 1)
         FROM waiting w WHERE w.receiver IS NOT NULL)
       SELECT w.receiver FROM waiting w WHERE w.receiver IS NOT NULL
         AND NOT EXISTS (SELECT FROM notification_receiver r WHERE r.id = w.receiver)`,
    );
    let cancelled = 0;
    for (const { receiver } of forsaken)
      cancelled += await this.database.transaction((tx) =>
        cancelWaiting(tx, { receiver, channel: null, code: 'receiver-removed' }, now),
      );
    return cancelled;
  }

  protected async run(signal: AbortSignal): Promise<void> {
    if (!this.config.roles.includes('notifier')) return;
    const pass = async () => {
      const { deleted, cancelled } = await this.pass();
      if (deleted + cancelled > 0)
        this.logger.info({ deleted, cancelled }, 'old notifications are deleted, those of removed receivers cancelled');
    };
    await sweeping(pass, {
      everyMs: EVERY_MS,
      signal,
      onFailure: (error) =>
        this.logger.warn({ reason: messageOf(error) }, 'no old notification could be deleted; tried again each minute'),
    });
  }
}
