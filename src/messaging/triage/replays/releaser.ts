import { LostRace, query, queryAnew, type Tx } from '../../../platform/database';
import type { ParkedDesk } from '../../consumer';
import { SKIPPED } from './replay';

/** `released`, or the code of why it was skipped. */
export type ReleaseResult = 'released' | 'not-dead' | 'behind' | 'edit-pending';

/** Gives messages of a replay to the drain and writes down, in the same transaction, which were sent and which not. */
export class Releaser {
  constructor(private readonly desk: ParkedDesk) {}

  /**
   * The ids are `planned` items of this replay; the caller holds what keeps others from releasing them. Throws {@link LostRace} when
   * an edit came in between: the desk locks keys before messages, so that only behind it nobody can make one any more.
   */
  async release(
    tx: Tx,
    replayId: string,
    ids: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, ReleaseResult>> {
    const pending = await pendingEdits(tx, ids);
    const sent = ids.filter((id) => !pending.has(id));
    const releases = await this.desk.release(tx, sent, replayId, now);
    if ((await pendingEdits(tx, sent)).size > 0) throw new LostRace('an edit came in between');
    const results = new Map(
      ids.map((id): [string, ReleaseResult] => [
        id,
        pending.has(id) ? 'edit-pending' : (releases.get(id) ?? 'not-dead'),
      ]),
    );
    await this.record(tx, replayId, results);
    return results;
  }

  private async record(tx: Tx, replayId: string, results: ReadonlyMap<string, ReleaseResult>): Promise<void> {
    const codes = [...results.values()].map((result) => (result === 'released' ? null : result));
    await queryAnew(
      tx,
      `UPDATE replay_item i SET outcome = CASE WHEN r.code IS NULL THEN 'waiting' ELSE 'skipped' END, code = r.code, detail = r.detail, at = clock_timestamp()
       FROM unnest(:ids::bigint[], :codes::text[], :details::text[]) r (id, code, detail)
       WHERE i.replay_id = :replayId AND i.parked_id = r.id AND i.outcome = 'planned'`,
      {
        replayId,
        ids: [...results.keys()],
        codes,
        details: codes.map((code) => (code === null ? null : (SKIPPED[code] ?? null))),
      },
    );
  }
}

/** Those of these messages whose edit waits for a second person. */
async function pendingEdits(tx: Tx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await query<{ id: string }>(
    tx,
    `SELECT DISTINCT parked_id AS id FROM parked_edit WHERE parked_id = ANY(:ids::bigint[]) AND state = 'pending'`,
    { ids },
  );
  return new Set(rows.map(({ id }) => id));
}
