import type { Database } from '../../../platform/database';

/** Blocks of the table's heap now. */
export async function inboxBlocks(database: Database): Promise<number> {
  const [row] = await database.query<{ blocks: string }>(
    `SELECT pg_relation_size('inbox') / current_setting('block_size')::int AS blocks`,
  );
  return Number(row?.blocks ?? 0);
}

/**
 * Forgets ids in these blocks that were received before `before` on one of these channels, and belong to no parked message,
 * whatever its state, and to no edit of one. Reads the blocks and nothing else. A BRIN index would not do: freed space is
 * filled with new rows, after which every range holds old and new, and each look reads the whole table.
 */
export async function sweepInbox(
  database: Database,
  blocks: { from: number; to: number },
  channels: readonly number[],
  before: Date,
): Promise<number> {
  const rows = await database.query(SWEEP, {
    from: `(${blocks.from},0)`,
    to: `(${blocks.to},0)`,
    channels,
    before,
  });
  return rows.length;
}

export const SWEEP = `
  WITH gone AS (
    DELETE FROM inbox i WHERE i.ctid >= :from::tid AND i.ctid < :to::tid AND i.received_at < :before AND i.channel_id = ANY(:channels::int[])
      AND (SELECT p.id FROM parked_inbound p WHERE p.channel_id = i.channel_id AND p.inbox_id = i.message_id) IS NULL
      AND (SELECT e.id FROM parked_edit e WHERE e.message_id =
             CASE WHEN i.message_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN i.message_id::uuid END) IS NULL
    RETURNING 1)
  SELECT 1 FROM gone`;

/** Deletes messages, with their edits, that were processed or discarded before `before`. Unresolved ones have no such time. */
export async function deleteResolved(database: Database, before: Date, most: number): Promise<number> {
  const rows = await database.query(
    `WITH gone AS (
       DELETE FROM parked_inbound WHERE id IN (
         SELECT id FROM parked_inbound WHERE resolved_at < :before AND state IN ('processed', 'discarded')
         ORDER BY resolved_at LIMIT :most FOR UPDATE SKIP LOCKED)
       RETURNING 1)
     SELECT 1 FROM gone`,
    { before, most },
  );
  return rows.length;
}
