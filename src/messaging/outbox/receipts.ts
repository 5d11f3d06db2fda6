import { Database, query, type Tx } from '../../platform/database';
import { RUN_SPAN } from './receipt-runs';

/** Where a message stands in Kafka. */
export interface Receipt {
  topic: string;
  partition: number;
  /** Decimal text. */
  offset: string;
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
  const sql = `SELECT m.seq::text, m.topic, m.partition, min(r.base_offset + array_position(r.seqs, m.seq) - 1)::text AS offset
    FROM unnest(:topics::text[], :partitions::int[], :seqs::bigint[]) m(topic, partition, seq)
    JOIN outbox_receipt r ON r.topic = m.topic AND r.partition = m.partition
     AND r.last_seq >= m.seq AND r.last_seq <= m.seq + ${RUN_SPAN} AND r.first_seq <= m.seq
    WHERE m.seq = ANY(r.seqs) GROUP BY m.seq, m.topic, m.partition`;
  const values = {
    topics: messages.map((message) => message.topic),
    partitions: messages.map((message) => message.partition),
    seqs: messages.map((message) => message.seq),
  };
  type Row = Receipt & { seq: string };
  const rows = db instanceof Database ? await db.query<Row>(sql, values) : await query<Row>(db, sql, values);
  return new Map(rows.map(({ seq, topic, partition, offset }) => [seq, { topic, partition, offset }]));
}
