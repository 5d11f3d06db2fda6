import type { Clock } from '../../../platform/clock';
import { type Database, query } from '../../../platform/database';
import type { AttemptMarks, AttemptVerdict } from '../drain/attempt-marks';
import type { OneAtATime } from './one-at-a-time';
import { PROCESS_KILLER } from './condemned';
import { livedLongEnough } from './lived-long-enough';
import { type Presence, PRESENCE_LOCK } from './presence';
import { MOST_STARTS } from './starts';

/** How often is looked for what dead processes had in hand, ms. */
const LOOK_MS = 1_000;

/**
 * The same for parked messages as careful reading is for a partition. One row says what of a partner is being tried; when its
 * process has died, each message in it has one more start, and is then tried alone: one suspect of the process at a time.
 */
export class DrainMarks implements AttemptMarks {
  private readonly turns = new Map<string, () => void>();
  private lookedAt = -Infinity;
  private marked = false;

  constructor(
    private readonly database: Database,
    private readonly presence: Presence,
    private readonly suspects: OneAtATime,
    private readonly clock: Clock,
    private readonly lived: () => Promise<void> = livedLongEnough,
  ) {}

  async begin(partner: string, sequences: readonly (readonly string[])[]): Promise<AttemptVerdict> {
    await this.presence.established();
    await this.countDeaths();
    const rows = await this.database.query<{ id: string; starts: number }>(
      'SELECT id, starts FROM parked_inbound WHERE id = ANY(:ids::bigint[]) AND starts > 0',
      { ids: sequences.flat() },
    );
    const suspected = new Set(rows.map(({ id }) => id));
    const dead = rows.filter(({ starts }) => starts >= MOST_STARTS).map(({ id }) => id);
    const first = sequences.findIndex((ids) => ids.some((id) => suspected.has(id)));
    const only = first < 0 ? undefined : first;
    if (only !== undefined) await this.lived();
    if (only !== undefined) this.turns.set(partner, await this.suspects.take());
    await this.mark(partner, only === undefined ? sequences.flat() : (sequences[only] ?? []).slice(0, 1));
    return { condemned: new Map(dead.map((id) => [id, PROCESS_KILLER])), only };
  }

  async end(partner: string): Promise<void> {
    try {
      if (this.marked) {
        await this.database.query('DELETE FROM drain_start WHERE run = :run AND partner = :partner', {
          run: this.presence.run,
          partner,
        });
      }
    } finally {
      this.turns.get(partner)?.();
      this.turns.delete(partner);
    }
  }

  /** A clean end: nothing is in hand. */
  async leave(): Promise<void> {
    if (this.marked) await this.database.query('DELETE FROM drain_start WHERE run = :run', { run: this.presence.run });
  }

  private async mark(partner: string, ids: readonly string[]): Promise<void> {
    this.marked = true;
    await this.database.query(
      `INSERT INTO drain_start (run, partner, ids, begun_at) VALUES (:run, :partner, :ids::bigint[], :now)
       ON CONFLICT (run, partner) DO UPDATE SET ids = EXCLUDED.ids, begun_at = EXCLUDED.begun_at`,
      { run: this.presence.run, partner, ids, now: this.clock.now() },
    );
  }

  /** Every message that a dead process had begun, and that has no outcome since, has one more start. */
  private async countDeaths(): Promise<void> {
    if (performance.now() - this.lookedAt < LOOK_MS) return;
    await this.database.transaction((tx) =>
      query(
        tx,
        `WITH dead AS (
           DELETE FROM drain_start d WHERE d.run <> :run AND NOT EXISTS (
             SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.classid = :lock::int AND l.objid = d.run
               AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))
           RETURNING d.ids, d.begun_at),
         begun AS (SELECT id, max(begun_at) AS begun_at FROM dead, unnest(ids) id GROUP BY id)
         UPDATE parked_inbound p SET starts = p.starts + 1, started_at = b.begun_at FROM begun b
         WHERE p.id = b.id AND p.state IN ('waiting', 'held') AND (p.last_failed_at IS NULL OR p.last_failed_at < b.begun_at)`,
        { run: this.presence.run, lock: PRESENCE_LOCK },
      ),
    );
    this.lookedAt = performance.now();
  }
}
