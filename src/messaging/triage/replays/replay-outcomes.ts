import { queryAnew, type Tx } from '../../../platform/database';
import type { ReplayObserver, ReplayResult } from '../../consumer';

/** Writes down what became of replayed messages, in the transaction that made it so: done means processed. */
export class ReplayOutcomes implements ReplayObserver {
  /** A message that has an end keeps it: a later word about it belongs to another replay, or was said before. */
  async settled(tx: Tx, results: readonly ReplayResult[]): Promise<void> {
    if (results.length === 0) return;
    await queryAnew(
      tx,
      `UPDATE replay_item i SET outcome = r.outcome, code = r.code, detail = r.detail, at = clock_timestamp()
       FROM unnest(:replayIds::uuid[], :parkedIds::bigint[], :outcomes::text[], :codes::text[], :details::text[]) r (replay_id, parked_id, outcome, code, detail)
       WHERE i.replay_id = r.replay_id AND i.parked_id = r.parked_id AND i.outcome = 'waiting'`,
      {
        replayIds: results.map(({ replayId }) => replayId),
        parkedIds: results.map(({ parkedId }) => parkedId),
        outcomes: results.map(({ result }) => result),
        codes: results.map(({ code }) => code ?? null),
        details: results.map(({ detail }) => detail ?? null),
      },
    );
  }
}
