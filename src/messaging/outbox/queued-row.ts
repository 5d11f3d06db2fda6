import { toHeaders } from '../../contracts';
import type { LaneRecord } from '../kafka';

/** A committed row on its way to the broker. */
export interface QueuedRow {
  seq: bigint;
  topic: string;
  partition: number;
  /** Record key; also in `record`, there as what Kafka takes. */
  key: string;
  record: LaneRecord;
  /** Bytes that it takes in a produce request, roughly. */
  size: number;
  /** `ce_time`: when the message was born, by its writer's clock. */
  time: string;
  /** The read that brought it; counts how many of its rows are still unsent. */
  read: { left: number };
}

/** A row of the queries in read-query.ts: text as PostgreSQL sends it, parsed by nobody else. */
export type RawRow = readonly [
  running: string | null,
  seq: string,
  id: string | null,
  aggregateId: string | null,
  type: string | null,
  topic: string | null,
  partition: string | null,
  correlationId: string | null,
  causationId: string | null,
  traceparent: string | null,
  dataSchema: string | null,
  contentType: string | null,
  time: string | null,
  payload: string | null,
  bytes: string,
];

/** What a record's frame and the names of our headers add to its content. */
const FRAME_BYTES = 150;

/** Makes the record once, when the row is read. This is the hot path: no Date is parsed, nothing is copied twice. */
export function toQueuedRow(row: RawRow, source: string, read: { left: number }): QueuedRow {
  const [, seq, id, key, type, topic, partition, correlationId, causationId, traceparent, dataSchema, contentType] =
    row;
  const value = row[13] === null ? null : Buffer.from(row[13].slice(2), 'hex');
  const time = rfc3339(row[12] ?? '');
  const headers = toHeaders({
    id: id ?? '',
    source,
    type: type ?? '',
    time,
    subject: key ?? undefined,
    dataSchema: dataSchema ?? undefined,
    contentType: contentType ?? undefined,
    correlationId: correlationId ?? undefined,
    causationId: causationId ?? undefined,
    traceparent: traceparent ?? undefined,
  });
  let size = FRAME_BYTES + (value?.length ?? 0) + (key?.length ?? 0) * 4;
  for (const name in headers) size += headers[name]?.length ?? 0;
  return {
    seq: BigInt(seq),
    topic: topic ?? '',
    partition: Number(partition),
    key: key ?? '',
    record: { key, value, headers },
    size,
    time,
    read,
  };
}

/** `2026-11-29 21:34:59.12+00`, which a session in UTC with ISO dates prints, as `2026-11-29T21:34:59.120Z`. */
export function rfc3339(text: string): string {
  const fraction = text.slice(19, -3).slice(1);
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0')}Z`;
}
