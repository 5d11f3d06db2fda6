import type { RawHeaders } from '../../contracts';
import { query, type Tx } from '../../platform/database';
import { fingerprintOf } from './failure';
import type { InspectedRecord } from './inspect';
import { type ChannelKey, sequenceOf } from './record-identity';
import { storableText } from './text';

export type ParkedState = 'waiting' | 'held' | 'dead';

/** A record that was not applied, and why. */
export interface ParkedRecord {
  inspected: InspectedRecord;
  inboxId: string;
  state: ParkedState;
  code: string | null;
  detail: string | null;
  pointer: string | null;
  /** How often it was given to a handler. */
  attempts: number;
  nextAttemptAt: Date | null;
}

/** Longest error text kept beside a record. */
const MAX_DETAIL = 1000;

/** Messages that wait or are dead, and the keys that they hold. */
export class Parked {
  /**
   * The {@link sequenceOf}s of those keys that are parked now, locked FOR SHARE: the end of a drain takes such a row FOR
   * UPDATE, so it sees every record that is held behind the key in this transaction. One statement a channel, in the order
   * of their ids: a join would be planned for the table as it was when the plan was made.
   */
  async lockedKeys(tx: Tx, keys: readonly ChannelKey[]): Promise<Set<string>> {
    const found = new Set<string>();
    const byChannel = [...Map.groupBy(keys, ({ channelId }) => channelId)].sort(([a], [b]) => a - b);
    for (const [channelId, ofChannel] of byChannel) {
      const rows = await query<{ key: string }>(
        tx,
        `SELECT key FROM parked_key WHERE channel_id = :channelId AND key = ANY(:keys::text[]) ORDER BY key FOR SHARE`,
        { channelId, keys: ofChannel.map(({ key }) => key) },
      );
      for (const { key } of rows) found.add(sequenceOf({ channelId, key }));
    }
    return found;
  }

  /**
   * Parks keys, sorted as {@link lockedKeys} does. DO UPDATE and not DO NOTHING: a key that another transaction parked meanwhile must be locked
   * too, or the end of its drain could delete the row before it sees what we add behind it.
   */
  async parkKeys(tx: Tx, keys: readonly ChannelKey[], now: Date): Promise<void> {
    if (keys.length === 0) return;
    await query(
      tx,
      `INSERT INTO parked_key AS p (channel_id, key, since)
       SELECT c, k, :now FROM unnest(:channelIds::int[], :keys::text[]) u(c, k) ORDER BY c, k
       ON CONFLICT (channel_id, key) DO UPDATE SET since = p.since`,
      { channelIds: keys.map(({ channelId }) => channelId), keys: keys.map(({ key }) => key), now },
    );
  }

  /**
   * Stores records byte for byte, numbered in the order of the list. The transaction has taken each one's inbox row: a
   * record that somebody else has is never parked, and the unique (channel, inbox id) holds that.
   */
  async add(tx: Tx, records: readonly ParkedRecord[], now: Date): Promise<void> {
    if (records.length === 0) return;
    // JSON, since each record has its own number of headers and unnest knows no ragged arrays.
    await query(
      tx,
      `INSERT INTO parked_inbound (partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, message_id, correlation_id, type,
         raw_key, raw_value, header_names, header_values, code, pointer, detail, fingerprint, attempts, next_attempt_at, parked_at)
       SELECT r.partner, r.key, r.state, r."channelId", r."inboxId", r.topic, r.partition, r."offset", r."recordTime", r."messageId", r."correlationId", r.type,
         decode(r."rawKey", 'base64'), decode(r."rawValue", 'base64'),
         ARRAY(SELECT decode(v, 'base64') FROM json_array_elements_text(r."headerNames") WITH ORDINALITY e(v, n) ORDER BY n),
         ARRAY(SELECT decode(v, 'base64') FROM json_array_elements_text(r."headerValues") WITH ORDINALITY e(v, n) ORDER BY n),
         r.code, r.pointer, r.detail, r.fingerprint, r.attempts, r."nextAttemptAt", :now
       FROM json_to_recordset(:rows::json) AS r(place int, partner text, key text, state text, "channelId" int, "inboxId" text, topic text, partition int, "offset" bigint,
         "recordTime" timestamptz, "messageId" text, "correlationId" text, type text, "rawKey" text, "rawValue" text, "headerNames" json, "headerValues" json,
         code text, pointer text, detail text, fingerprint text, attempts int, "nextAttemptAt" timestamptz)
       ORDER BY r.place`,
      { now, rows: JSON.stringify(records.map(toRow)) },
    );
  }
}

function toRow(parked: ParkedRecord, place: number): Record<string, unknown> {
  const { record, channel, envelope, key } = parked.inspected;
  const { id, type, correlationId } = envelope;
  const detail = parked.detail === null ? null : storableText(parked.detail, MAX_DETAIL);
  return {
    place,
    partner: channel.partner,
    key,
    state: parked.state,
    channelId: channel.id,
    inboxId: parked.inboxId,
    topic: record.topic,
    partition: record.partition,
    offset: String(record.offset),
    recordTime: timeOf(record.timestamp),
    messageId: id === undefined ? null : storableText(id),
    correlationId: correlationId === undefined ? null : storableText(correlationId),
    type: type === undefined ? null : storableText(type),
    rawKey: record.key?.toString('base64') ?? null,
    rawValue: record.value?.toString('base64') ?? null,
    ...headerColumns(record.headers),
    code: parked.code,
    pointer: parked.pointer === null ? null : storableText(parked.pointer),
    detail,
    fingerprint: parked.code === null ? null : fingerprintOf(type ?? null, parked.code, detail ?? ''),
    attempts: parked.attempts,
    nextAttemptAt: parked.nextAttemptAt,
  };
}

/** A partner's clock is free text: what is no time of ours (Kafka says -1 for none) becomes the epoch. */
function timeOf(timestamp: number): Date {
  return timestamp >= 0 && timestamp <= 253_402_300_799_999 ? new Date(timestamp) : new Date(0);
}

function headerColumns(headers: RawHeaders): { headerNames: string[]; headerValues: (string | null)[] } {
  const headerNames: string[] = [];
  const headerValues: (string | null)[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const values = Array.isArray(value)
      ? (value as readonly (Buffer | string)[])
      : [value as Buffer | string | undefined];
    for (const one of values) {
      headerNames.push(Buffer.from(name).toString('base64'));
      headerValues.push(one == null ? null : Buffer.from(one).toString('base64'));
    }
  }
  return { headerNames, headerValues };
}
