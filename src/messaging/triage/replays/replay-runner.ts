import type { Clock } from '../../../platform/clock';
import type { Config } from '../../../platform/config';
import { type Database, isDatabaseOutage, query, type Tx } from '../../../platform/database';
import { messageOf } from '../../../platform/errors';
import { BackgroundLoop, sleep } from '../../../platform/polling';
import type { Logger } from '../../../platform/telemetry';
import type { ReleaseStep } from './release-step';

/** Between two steps of a replay that keeps a pace. */
const PACE_MS = 100;
/** Between two looks, while no replay has anything to release. */
const IDLE_MS = 500;
const TROUBLE_MS = 2_000;
const SWEEP_MS = 60_000;
const DAY_MS = 86_400_000;
/** Replays of one sweep. */
const SWEEP_REPLAYS = 100;
/** Items of one transaction of the sweep. */
const SWEEP_ROWS = 10_000;

/**
 * Runs replays in processes with the role consumer: what is released is applied there, and without one releasing would only fill the
 * table of what waits. Any number may run; the steps of a replay exclude each other.
 */
export class ReplayRunner extends BackgroundLoop {
  private sweepAt = 0;

  constructor(
    private readonly database: Database,
    private readonly step: ReleaseStep,
    private readonly config: Pick<Config, 'roles' | 'deadLetterRetentionDays'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  protected async run(signal: AbortSignal): Promise<void> {
    if (!this.config.roles.includes('consumer')) return;
    let troubled = false;
    while (!signal.aborted) {
      try {
        const pause = await this.pass();
        if (troubled) this.logger.info({}, 'replays go on');
        troubled = false;
        if (pause > 0) await sleep(pause, signal);
      } catch (error) {
        // Once; that the database is away, or not there yet, others say.
        const isOurs = !isDatabaseOutage(error);
        if (isOurs && !troubled) this.logger.warn({ cause: messageOf(error) }, 'replays stand still; tried again');
        troubled ||= isOurs;
        await sleep(TROUBLE_MS, signal);
      }
    }
  }

  /** One step of each replay that runs; returns how long to wait before the next, ms. */
  async pass(): Promise<number> {
    if (performance.now() >= this.sweepAt) {
      await this.sweep();
      this.sweepAt = performance.now() + SWEEP_MS * (0.5 + Math.random());
    }
    // Behind `position`, so that the entries of what was released are not walked over.
    const open = await this.database.query<{ id: string; releasing: boolean }>(
      `SELECT id, state = 'running' AND EXISTS (
         SELECT 1 FROM replay_item WHERE replay_id = r.id AND outcome = 'planned' AND parked_id > r.position
       ) AS releasing FROM replay r WHERE state IN ('running', 'paused') ORDER BY id`,
    );
    const releasing = open.filter((replay) => replay.releasing);
    let more = false;
    for (const { id } of releasing) {
      if (this.isStopping) break;
      more = (await this.step.run(id, this.clock.now()))?.more === true || more;
    }
    if (more) return 0;
    if (open.length > 0) await this.finish();
    return releasing.length > 0 ? PACE_MS : IDLE_MS;
  }

  /** An item never becomes open again, so what is seen here stays true. */
  private async finish(): Promise<void> {
    const done = await this.database.statement<{ id: string }>(
      `UPDATE replay r SET state = 'done', ended_at = :now WHERE state IN ('running', 'paused')
         AND NOT EXISTS (SELECT 1 FROM replay_item WHERE replay_id = r.id AND outcome = 'planned' AND parked_id > r.position)
         AND NOT EXISTS (SELECT 1 FROM replay_item WHERE replay_id = r.id AND outcome = 'waiting') RETURNING id`,
      { now: this.clock.now() },
    );
    for (const { id } of done) this.logger.info({ replay: id }, 'replay done: every message has its end');
  }

  /**
   * Ends plans that nobody started in time, and forgets what they would have sent; forgets replays that ended as long ago as resolved
   * messages are kept. One of which a message still waits stays. What was done stays in the audit.
   */
  async sweep(): Promise<void> {
    const now = this.clock.now();
    const expired = await this.database.statement<{ id: string }>(
      `UPDATE replay SET state = 'expired' WHERE state IN ('planning', 'planned', 'expired') AND expires_at < :now RETURNING id`,
      { now },
    );
    for (const { id } of expired) await this.empty(id, 'UPDATE replay SET expires_at = NULL WHERE id = :id');
    const old = await this.database.query<{ id: string }>(
      `SELECT id FROM replay r WHERE state IN ('done', 'cancelled', 'expired') AND planned_at < :before AND coalesce(ended_at, planned_at) < :before
         AND NOT EXISTS (SELECT 1 FROM replay_item WHERE replay_id = r.id AND outcome = 'waiting') ORDER BY planned_at LIMIT ${SWEEP_REPLAYS}`,
      { before: new Date(now.getTime() - this.config.deadLetterRetentionDays * DAY_MS) },
    );
    for (const { id } of old) await this.empty(id, 'DELETE FROM replay WHERE id = :id');
  }

  /** Deletes the items, then does `last`, also when another process is at it. */
  private async empty(id: string, last: string): Promise<void> {
    for (let deleted = SWEEP_ROWS; deleted === SWEEP_ROWS;) {
      if (this.isStopping) return;
      deleted = await this.database.transaction((tx) => forget(tx, id));
    }
    await this.database.statement(last, { id });
  }
}

async function forget(tx: Tx, replayId: string): Promise<number> {
  const [row] = await query<{ deleted: number }>(
    tx,
    `WITH gone AS (
       DELETE FROM replay_item WHERE replay_id = :replayId AND parked_id IN
         (SELECT parked_id FROM replay_item WHERE replay_id = :replayId ORDER BY parked_id LIMIT ${SWEEP_ROWS}) RETURNING 1
     ) SELECT count(*)::int AS deleted FROM gone`,
    { replayId },
  );
  return row?.deleted ?? 0;
}
