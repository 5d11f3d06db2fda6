import { query, queryAnew, type Tx } from '../../../platform/database';
import type { ParkedDesk } from '../../consumer';
import { SKIPPED } from './replay';

/** `released`, or the code of why it was skipped. */
export type ReleaseResult = 'released' | 'not-dead' | 'behind' | 'edit-pending';

/** Gives messages of a replay to the drain and writes down, in the same transaction, which were sent and which not. */
export class Releaser {
  constructor(private readonly desk: ParkedDesk) {}

  /** The ids are `planned` items of this replay; the caller holds what keeps others from releasing them. */
  async release(
    tx: Tx,
    replayId: string,
    ids: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, ReleaseResult>> {
    // Locked before the look at edits: an edit locks its message, too, so none comes in between.
    await query(tx, 'SELECT id FROM parked_inbound WHERE id = ANY(:ids::bigint[]) ORDER BY id FOR UPDATE', { ids });
    const edits = await query<{ id: string }>(
      tx,
      `SELECT parked_id AS id FROM parked_edit WHERE parked_id = ANY(:ids::bigint[]) AND state = 'pending'`,
      { ids },
    );
    const pending = new Set(edits.map(({ id }) => id));
    const releases = await this.desk.release(
      tx,
      ids.filter((id) => !pending.has(id)),
      replayId,
      now,
    );
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
