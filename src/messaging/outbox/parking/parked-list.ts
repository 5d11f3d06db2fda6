import { Database, query, type Tx } from '../../../platform/database';
import { decodeCursor, type Page, pageOf } from '../../../platform/http';

export const PARKED_STATES = ['waiting', 'dead', 'held', 'retrying', 'discarded'] as const;
export type ParkedState = (typeof PARKED_STATES)[number];

/** An outbound message that is in parked_outbound, and why. */
export interface ParkedOutbound {
  /** Decimal text; its number in the outbox. */
  seq: string;
  topic: string;
  partition: number;
  key: string;
  messageId: string;
  state: ParkedState;
  /** Why the broker refused it, or why its lane waits; null for one that is held. */
  code: string | null;
  /** In words: what happened, and what to do next. */
  detail: string;
  parkedAt: Date;
  /** Of the last time that staff have sent it again. */
  replayId: string | null;
  replayBy: string | null;
  replayAttempt: number;
  discardedBy: string | null;
  discardReason: string | null;
  discardedAt: Date | null;
}

export interface ParkedFilter {
  /** null: all. */
  topics: readonly string[] | null;
  /** Undefined: all but discarded ones. */
  state: ParkedState | undefined;
}

const COLUMNS = `p.seq::text, p.topic, p.partition, p.key, p.message_id AS "messageId", p.state,
  coalesce(p.code, CASE p.state WHEN 'waiting' THEN l.code END) AS code,
  CASE p.state WHEN 'waiting' THEN coalesce(l.reason, 'Its lane is drained now.')
    WHEN 'held' THEN 'It waits behind a dead letter of its key.'
    WHEN 'retrying' THEN 'It is sent again within a second, unless its lane waits.'
    ELSE coalesce(p.detail, '') END AS detail,
  p.parked_at AS "parkedAt", p.replay_id AS "replayId", p.replay_by AS "replayBy", p.replay_attempt AS "replayAttempt",
  p.discarded_by AS "discardedBy", p.discard_reason AS "discardReason", p.discarded_at AS "discardedAt"`;
const FROM = 'parked_outbound p LEFT JOIN parked_lane l ON l.topic = p.topic AND l.partition = p.partition';

/** By number; one that is parked while somebody pages comes on the last page. Throws `cursor-invalid`. */
export async function parkedPage(
  db: Database,
  { topics, state }: ParkedFilter,
  limit: number,
  cursor: string | undefined,
): Promise<Page<ParkedOutbound>> {
  const [after = '0'] = cursor === undefined ? [] : decodeCursor(cursor, [/^\d{1,18}$/]);
  const rows = await db.query<ParkedOutbound>(
    `SELECT ${COLUMNS} FROM ${FROM} WHERE p.seq > :after::bigint AND (:topics::text[] IS NULL OR p.topic = ANY(:topics::text[]))
     AND ${state === undefined ? `p.state <> 'discarded'` : 'p.state = :state'} ORDER BY p.seq LIMIT ${limit + 1}`,
    state === undefined ? { after, topics } : { after, topics, state },
  );
  return pageOf(rows, limit, (last) => [last.seq]);
}

/** What is parked among these messages, by `seq` (decimal text); one that is missing is sent, or on its way. */
export async function parkedOf(db: Database | Tx, seqs: readonly string[]): Promise<Map<string, ParkedOutbound>> {
  if (seqs.length === 0) return new Map();
  const sql = `SELECT ${COLUMNS} FROM ${FROM} WHERE p.seq = ANY(:seqs::bigint[])`;
  const rows =
    db instanceof Database
      ? await db.query<ParkedOutbound>(sql, { seqs })
      : await query<ParkedOutbound>(db, sql, { seqs });
  return new Map(rows.map((row) => [row.seq, row]));
}
