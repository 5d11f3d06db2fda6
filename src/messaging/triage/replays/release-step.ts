import { type Database, query, type Tx } from '../../../platform/database';
import { allowance } from './pace';
import type { Releaser } from './releaser';

/** Messages of one transaction. */
const BATCH = 500;
/**
 * So many may be sent and not yet tried: what a pause or a cancellation no longer reaches, and what stands before everybody else's retries.
 * What was not tried within {@link UNTRIED_S} waits for something else (behind a message that failed again, say) and does not count.
 */
const UNTRIED = 5_000;
const UNTRIED_S = 10;

interface Turn {
  pace: number | null;
  position: string;
  nextAt: number;
  now: number;
}

/** What one step did; undefined: another process was at it, or there is nothing to release. */
export interface Step {
  released: number;
  /** May more be released at once? */
  more: boolean;
}

/** One step of a replay: some of its messages, in order of their ids, as far as its pace allows. */
export class ReleaseStep {
  constructor(
    private readonly database: Database,
    private readonly releaser: Releaser,
  ) {}

  /**
   * Whoever holds the replay's row does the step; all that the next one must know (pace, position, outcomes) is written with it. So
   * a process that dies anywhere leaves either all of a step or nothing, the next one is whoever comes first, and no two release
   * the same message. A lease could do no more: it would have to be checked inside this transaction, by this lock.
   */
  run(replayId: string, now: Date): Promise<Step | undefined> {
    return this.database.transaction(async (tx) => {
      const turn = await this.take(tx, replayId);
      if (!turn) return undefined;
      const room = Math.min(BATCH, UNTRIED - (await this.untried(tx, replayId)));
      const allowed = allowance(turn.pace, turn.nextAt, turn.now, room);
      if (allowed.count <= 0) return { released: 0, more: false };
      const ids = await this.next(tx, replayId, turn.position, allowed.count);
      const last = ids.at(-1);
      if (last === undefined) return undefined;
      const results = await this.releaser.release(tx, replayId, ids, now);
      const released = [...results.values()].filter((result) => result === 'released').length;
      await query(tx, `UPDATE replay SET position = :last, next_at = to_timestamp(:nextAt) WHERE id = :replayId`, {
        replayId,
        last,
        nextAt: allowed.nextAt(released),
      });
      const more = turn.pace === null || released < ids.length || ids.length === BATCH;
      return { released, more };
    });
  }

  private async take(tx: Tx, replayId: string): Promise<Turn | undefined> {
    const [turn] = await query<Turn>(
      tx,
      `SELECT pace, position, extract(epoch FROM next_at)::float8 AS "nextAt", extract(epoch FROM clock_timestamp())::float8 AS now
       FROM replay WHERE id = :replayId AND state = 'running' FOR NO KEY UPDATE SKIP LOCKED`,
      { replayId },
    );
    return turn;
  }

  private async untried(tx: Tx, replayId: string): Promise<number> {
    const [row] = await query<{ untried: number }>(
      tx,
      `SELECT count(*)::int AS untried FROM (
         SELECT 1 FROM replay_item WHERE replay_id = :replayId AND outcome = 'waiting' AND code IS NULL
           AND at > clock_timestamp() - interval '${UNTRIED_S} s' LIMIT ${UNTRIED}
       ) u`,
      { replayId },
    );
    return row?.untried ?? 0;
  }

  /** Behind `position`, so that what was released before is not read over again. */
  private async next(tx: Tx, replayId: string, position: string, limit: number): Promise<string[]> {
    const rows = await query<{ id: string }>(
      tx,
      `SELECT parked_id AS id FROM replay_item WHERE replay_id = :replayId AND outcome = 'planned' AND parked_id > :position
       ORDER BY parked_id LIMIT :limit`,
      { replayId, position, limit },
    );
    return rows.map(({ id }) => id);
  }
}
