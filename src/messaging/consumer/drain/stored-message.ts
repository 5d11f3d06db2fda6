import type { Database } from '../../../platform/database';
import type { InboundRecord } from '../../kafka';
import { storedHeaders } from '../stored-headers';

/** A parked message with its content. */
export interface StoredMessage {
  /** Decimal text. */
  id: string;
  version: number;
  partner: string;
  channelId: number;
  key: string | null;
  inboxId: string;
  topic: string;
  partition: number;
  /** Decimal text. */
  offset: string;
  recordTime: Date;
  rawKey: Buffer | null;
  rawValue: Buffer | null;
  headerNames: readonly Buffer[];
  headerValues: readonly (Buffer | null)[];
  attempts: number;
  countedSince: Date | null;
  nextAttemptAt: Date | null;
  replayId: string | null;
  /** The edit that is applied in place of the bytes, by its message id. */
  edit: { messageId: string; document: unknown } | null;
}

const COLUMNS = `p.id, p.version, p.partner, p.channel_id AS "channelId", p.key, p.inbox_id AS "inboxId", p.topic, p.partition, p."offset", p.record_time AS "recordTime",
  p.raw_key AS "rawKey", p.raw_value AS "rawValue", p.header_names AS "headerNames", p.header_values AS "headerValues", p.attempts,
  p.counted_since AS "countedSince", p.next_attempt_at AS "nextAttemptAt", p.replay_id AS "replayId",
  CASE WHEN e.id IS NOT NULL THEN jsonb_build_object('messageId', e.message_id, 'document', e.document) END AS edit`;

/** Those of these messages that are there, by id. */
export async function storedMessages(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredMessage>> {
  const rows = await database.query<StoredMessage>(
    `SELECT ${COLUMNS} FROM parked_inbound p LEFT JOIN parked_edit e ON e.id = p.edit_id WHERE p.id = ANY(:ids::bigint[])`,
    { ids },
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The record as it came from the broker. */
export function recordOf(stored: StoredMessage): InboundRecord {
  return {
    topic: stored.topic,
    partition: stored.partition,
    offset: BigInt(stored.offset),
    timestamp: stored.recordTime.getTime(),
    key: stored.rawKey,
    value: stored.rawValue,
    headers: storedHeaders(stored.headerNames, stored.headerValues),
  };
}
