import type { Floor } from './floors';
import { formatSnapshot, type Snapshot } from './snapshot';
import type { Window } from './window';

/** Bounds of one read; whichever comes first. */
export interface ReadLimit {
  rows: number;
  /** Sum of payload bytes; the row that reaches it is the last one. */
  bytes: number;
}

/** Position of the number sequence: the highest number drawn so far. */
export const SEQUENCE_POSITION = 'SELECT last_value - (NOT is_called)::int FROM outbox_message_seq_seq';

const COLUMNS =
  'seq, id, aggregateid, type, topic, partition, correlationid, causationid, traceparent, dataschema, content_type, time, payload';

/**
 * Only the rows up to the byte limit: `bytes` counts up to and including the row, so a row that stands above the limit
 * without its own size is left out. Toasted payloads that are left out are never fetched.
 */
const within = (rows: string, order: string, limit: ReadLimit) =>
  `SELECT * FROM (SELECT r.*, sum(coalesce(octet_length(payload), 0)) OVER (${order} ROWS UNBOUNDED PRECEDING) AS bytes FROM (${rows}) r) w
   WHERE bytes - coalesce(octet_length(payload), 0) < ${limit.bytes}`;

/**
 * The small window: every row that is visible now and not in `done`, at most `limit.rows` + 1 of each kind, together with the
 * snapshot and the sequence's position of the same statement (the row whose `running` is null). Two branches and not OR,
 * which would be a sequential scan; ordered by (xid, seq), since the planner walks the primary key from the start for
 * `min(seq)` or `ORDER BY seq`. All values are constants made from numbers, so that partitions are pruned while planning.
 */
export function pollSql(done: Snapshot, floor: Floor, limit: ReadLimit): string {
  const branch = (running: boolean, condition: string) =>
    `(SELECT ${running} AS running, ${COLUMNS} FROM outbox_message WHERE ${condition} ORDER BY xid, seq LIMIT ${limit.rows + 1})`;
  const branches = [branch(false, `xid >= '${done.xmax}'::xid8 AND seq > ${floor.xmax}`)];
  if (done.xip.length > 0) {
    branches.push(branch(true, `xid = ANY('{${done.xip.join(',')}}'::xid8[]) AND seq > ${floor.xmin}`));
  }
  return `SELECT NULL::boolean AS running, (${SEQUENCE_POSITION}) AS seq, NULL::uuid AS id, pg_current_snapshot()::text AS aggregateid, NULL AS type,
       NULL AS topic, NULL::int AS partition, NULL AS correlationid, NULL AS causationid, NULL AS traceparent, NULL AS dataschema,
       NULL AS content_type, NULL::timestamptz AS time, NULL::bytea AS payload, 0::bigint AS bytes
     UNION ALL (${within(branches.join(' UNION ALL '), '', limit)})`;
}

/** A page of the large window, in `seq` order: rows that its frozen snapshot sees and `done` does not. */
export function pageSql(done: Snapshot, window: Window, limit: ReadLimit): string {
  return page(
    `seq > ${window.last} AND seq <= ${window.hi} AND pg_visible_in_snapshot(xid, '${formatSnapshot(window.snapshot)}')
       AND NOT pg_visible_in_snapshot(xid, '${formatSnapshot(done)}')`,
    limit,
  );
}

/**
 * A page of the rows that a restore brought from another cluster, whose ids no snapshot of this one can judge: all of them, but for
 * those that are parked, or were discarded by staff.
 */
export function foreignPageSql(window: Window, limit: ReadLimit): string {
  return page(
    `seq > ${window.last} AND seq <= ${window.hi}
       AND NOT EXISTS (SELECT FROM parked_outbound p WHERE p.seq = outbox_message.seq)`,
    limit,
  );
}

function page(condition: string, limit: ReadLimit): string {
  return within(
    `SELECT false AS running, ${COLUMNS} FROM outbox_message WHERE ${condition} ORDER BY seq LIMIT ${limit.rows}`,
    'ORDER BY seq',
    limit,
  );
}

/** These rows, in `seq` order, as far as the limit lets them in. Their numbers are constants, so that partitions are pruned while planning. */
export function rowsSql(seqs: readonly bigint[], limit: ReadLimit): string {
  return page(`seq = ANY('{${seqs.join(',')}}'::bigint[])`, limit);
}
