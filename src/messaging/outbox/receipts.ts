import { Database, query, queryAnew, type Tx } from '../../platform/database';
import { parkedOf } from './parking/parked-list';
import { RUN_SPAN } from './receipt-runs';

/** Where a message stands in Kafka. */
export interface Receipt {
  topic: string;
  partition: number;
  /** Decimal text. */
  offset: string;
  /** When the broker's acknowledgement was recorded. */
  sentAt: Date;
}

/** The lane of a message and its number, as the business row stores it. */
export interface SentAddress {
  topic: string;
  partition: number;
  /** Decimal text. */
  seq: string;
}

/**
 * Places in Kafka, by `seq`; one that is missing has no receipt (yet). A message that was sent again after a crash has
 * several: the first is shown, since that is the one that the partner applied. Costs one index range a message, whatever the size of the outbox.
 */
export async function receiptsOf(db: Database | Tx, messages: readonly SentAddress[]): Promise<Map<string, Receipt>> {
  if (messages.length === 0) return new Map();
  const sql = `SELECT DISTINCT ON (m.seq) m.seq::text, m.topic, m.partition, p.place::text AS offset, r.sent_at AS "sentAt"
    FROM unnest(:topics::text[], :partitions::int[], :seqs::bigint[]) m(topic, partition, seq)
    JOIN outbox_receipt r ON r.topic = m.topic AND r.partition = m.partition
     AND r.last_seq >= m.seq AND r.last_seq <= m.seq + ${RUN_SPAN} AND r.first_seq <= m.seq
    CROSS JOIN LATERAL (SELECT r.base_offset + array_position(r.seqs, m.seq) - 1 AS place) p
    WHERE m.seq = ANY(r.seqs) ORDER BY m.seq, p.place`;
  const values = {
    topics: messages.map((message) => message.topic),
    partitions: messages.map((message) => message.partition),
    seqs: messages.map((message) => message.seq),
  };
  type Row = Receipt & { seq: string };
  const rows = db instanceof Database ? await db.query<Row>(sql, values) : await query<Row>(db, sql, values);
  return new Map(rows.map(({ seq, ...receipt }) => [seq, receipt]));
}

/**
 * Whether messages are in Kafka yet, by `seq`: its receipt, `waiting` in the outbox, `discarded` by staff, so that it never will be, or
 * `dropped` by retention, which only happens to what was sent or discarded.
 */
export async function publicationsOf(
  tx: Tx,
  seqs: readonly string[],
): Promise<Map<string, Receipt | 'waiting' | 'discarded' | 'dropped'>> {
  if (seqs.length === 0) return new Map();
  const kept = await keptOf(tx, seqs);
  const receipts = await receiptsOf(tx, kept);
  const unsent = kept.flatMap(({ seq }) => (receipts.has(seq) ? [] : [seq]));
  const parked = await parkedOf(tx, unsent);
  const others = new Map(
    unsent.map((seq) => [seq, parked.get(seq)?.state === 'discarded' ? ('discarded' as const) : ('waiting' as const)]),
  );
  return new Map(seqs.map((seq) => [seq, receipts.get(seq) ?? others.get(seq) ?? 'dropped']));
}

/** Which of these numbers retention has dropped with their receipts: they were sent, or discarded by staff. */
export async function droppedOf(db: Database, seqs: readonly string[]): Promise<Set<string>> {
  if (seqs.length === 0) return new Set();
  const kept = new Set((await db.transaction((tx) => keptOf(tx, seqs))).map(({ seq }) => seq));
  return new Set(seqs.filter((seq) => !kept.has(seq)));
}

/** Planned anew: with the numbers at hand only the partitions that hold them are opened. */
const keptOf = (tx: Tx, seqs: readonly string[]): Promise<SentAddress[]> =>
  queryAnew(tx, 'SELECT seq, topic, partition FROM outbox_message WHERE seq = ANY(:seqs::bigint[])', { seqs });
