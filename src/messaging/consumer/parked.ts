import type { RawHeaders } from '../../contracts';
import { query, type Tx } from '../../platform/database';
import type { Failure } from './attempt';
import type { InspectedRecord } from './inspect';
import { type ChannelKey, sequenceOf } from './record-identity';
import { storableText } from './text';

/** While it is unresolved; later `processed` or `discarded`. */
export type ParkedState = 'waiting' | 'held' | 'dead';

/** A record that was not applied, and why; without a failure it is only held behind an earlier one of its key, or, where it is next, not tried yet. */
export interface ParkedRecord {
  inspected: InspectedRecord;
  inboxId: string;
  failure: Failure | undefined;
  isNext: boolean;
}

/** Messages that wait or are dead, and the keys that they hold. */
export class Parked {
  /**
   * The {@link sequenceOf}s of those keys that are parked now, locked FOR SHARE: the end of a drain takes such a row FOR
   * UPDATE, so it sees every record that is held behind the key in this transaction.
   */
  async lockedKeys(tx: Tx, keys: readonly ChannelKey[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const { channelId, key } of await lockKeys(tx, keys, 'FOR SHARE')) found.add(sequenceOf({ channelId, key }));
    return found;
  }

  /**
   * Parks keys, sorted as {@link lockedKeys} does. DO UPDATE and not DO NOTHING: a key that another transaction parked meanwhile must be locked
   * too, or the end of its drain could delete the row before it sees what we add behind it. Returns those: what is added there
   * may stand behind something, see `holdBehindFirst`.
   */
  async parkKeys(tx: Tx, keys: readonly ChannelKey[], now: Date): Promise<ChannelKey[]> {
    if (keys.length === 0) return [];
    const rows = await query<ChannelKey & { isNew: boolean }>(
      tx,
      // A row that was there has been locked by us, which its xmax tells; a new one has none.
      `INSERT INTO parked_key AS p (channel_id, key, since)
       SELECT c, k, :now FROM unnest(:channelIds::int[], :keys::text[]) u(c, k) ORDER BY c, k
       ON CONFLICT (channel_id, key) DO UPDATE SET since = p.since
       RETURNING channel_id AS "channelId", key, p.xmax = 0 AS "isNew"`,
      { channelIds: keys.map(({ channelId }) => channelId), keys: keys.map(({ key }) => key), now },
    );
    return rows.filter(({ isNew }) => !isNew);
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
         raw_key, raw_value, header_names, header_values, parked_at, holds, attempts, next_attempt_at, counted_since, first_failed_at, last_failed_at,
         code, pointer, detail, fingerprint, failed_in, root_cause, attempt_log)
       SELECT r.partner, r.key, r.state, r."channelId", r."inboxId", r.topic, r.partition, r."offset", r."recordTime", r."messageId", r."correlationId", r.type,
         decode(r."rawKey", 'base64'), decode(r."rawValue", 'base64'),
         ARRAY(SELECT decode(v, 'base64') FROM json_array_elements_text(r."headerNames") WITH ORDINALITY e(v, n) ORDER BY n),
         ARRAY(SELECT decode(v, 'base64') FROM json_array_elements_text(r."headerValues") WITH ORDINALITY e(v, n) ORDER BY n),
         :now, r.holds, r.attempts, r."nextAttemptAt", r.since, r.since, r.since,
         r.code, r.pointer, r.detail, r.fingerprint, r."failedIn", r."rootCause",
         CASE WHEN r.code IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_object('at', r.at, 'code', r.code, 'detail', r.detail)) END
       FROM json_to_recordset(:rows::json) AS r(place int, partner text, key text, state text, "channelId" int, "inboxId" text, topic text, partition int, "offset" bigint,
         "recordTime" timestamptz, "messageId" text, "correlationId" text, type text, "rawKey" text, "rawValue" text, "headerNames" json, "headerValues" json,
         holds boolean, attempts int, "nextAttemptAt" timestamptz, since timestamptz, at text,
         code text, pointer text, detail text, fingerprint text, "failedIn" text, "rootCause" text)
       ORDER BY r.place`,
      { now, rows: JSON.stringify(records.map((record, place) => toRow(record, place, now))) },
    );
  }
}

/**
 * Locks those of the keys that are parked, sorted. One statement a channel, in the order of their ids: a join would be planned for
 * the table as it was when the plan was made.
 */
export async function lockKeys(
  tx: Tx,
  keys: readonly ChannelKey[],
  mode: 'FOR SHARE' | 'FOR UPDATE',
): Promise<ChannelKey[]> {
  const found: ChannelKey[] = [];
  const byChannel = [...Map.groupBy(keys, ({ channelId }) => channelId)].sort(([a], [b]) => a - b);
  for (const [channelId, ofChannel] of byChannel) {
    const rows = await query<{ key: string }>(
      tx,
      `SELECT key FROM parked_key WHERE channel_id = :channelId AND key = ANY(:keys::text[]) ORDER BY key ${mode}`,
      { channelId, keys: ofChannel.map(({ key }) => key) },
    );
    found.push(...rows.map(({ key }) => ({ channelId, key })));
  }
  return found;
}

function toRow(parked: ParkedRecord, place: number, now: Date): Record<string, unknown> {
  const { failure, isNext } = parked;
  const { record, channel, envelope, key } = parked.inspected;
  const { id, type, correlationId } = envelope;
  return {
    place,
    partner: channel.partner,
    key,
    state: failure?.state ?? (isNext ? 'waiting' : 'held'),
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
    // Before its turn each keeps its place in its key.
    holds: failure?.holds ?? key !== null,
    attempts: failure?.attempts ?? 0,
    nextAttemptAt: failure ? failure.nextAttemptAt : isNext ? now : null,
    since: failure?.since ?? null,
    at: failure?.since.toISOString() ?? null,
    code: failure?.code ?? null,
    pointer: failure?.pointer ?? null,
    detail: failure?.detail ?? null,
    fingerprint: failure?.fingerprint ?? null,
    failedIn: failure?.failedIn ?? null,
    rootCause: failure?.rootCause ?? null,
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
