import { query, type Tx } from '../../platform/database';

/** Those of these correlation ids that an unresolved message of the partner carries: it came, and what became of it is not yet said. */
export async function parkedAnswers(
  tx: Tx,
  partner: string,
  correlationIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (correlationIds.length === 0) return new Set();
  const rows = await query<{ id: string }>(
    tx,
    `SELECT DISTINCT correlation_id AS id FROM parked_inbound
     WHERE correlation_id = ANY(:correlationIds::text[]) AND partner = :partner AND state IN ('waiting', 'held', 'dead')`,
    { correlationIds, partner },
  );
  return new Set(rows.map(({ id }) => id));
}
