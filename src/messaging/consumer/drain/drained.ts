import { type Database, query, queryAnew, type Tx } from '../../../platform/database';
import type { Failure } from '../attempt';
import type { ChannelKey } from '../record-identity';

/** A key that is to have its next turn, or its end. */
export interface PendingTurn extends ChannelKey {
  id: string;
}

/** A message that was tried and was not applied. */
export interface FailedMessage {
  id: string;
  failure: Failure;
}

/** What a drain's transaction writes about the messages that it has locked. */
export async function markProcessed(tx: Tx, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  await query(
    tx,
    `UPDATE parked_inbound SET state = 'processed', version = version + 1, next_attempt_at = NULL, starts = 0, started_at = NULL, resolved_at = :now
     WHERE id = ANY(:ids::bigint[])`,
    { ids, now },
  );
}

/** So many attempts are kept; older ones are forgotten. */
const MAX_LOG = 20;

/** What dies (again) is (again) to be shown on its dead letter topic. */
export async function markFailed(tx: Tx, failed: readonly FailedMessage[], now: Date): Promise<void> {
  if (failed.length === 0) return;
  await queryAnew(
    tx,
    `UPDATE parked_inbound p SET state = r.state, version = p.version + 1, holds = r.holds, attempts = r.attempts, next_attempt_at = r."nextAttemptAt",
       counted_since = r.since, first_failed_at = coalesce(p.first_failed_at, :now), last_failed_at = :now, starts = 0, started_at = NULL,
       code = r.code, detail = r.detail, pointer = r.pointer, fingerprint = r.fingerprint, failed_in = r."failedIn", root_cause = r."rootCause",
       dlt_published_at = CASE WHEN r.state <> 'dead' THEN p.dlt_published_at END, dlt_trouble = CASE WHEN r.state <> 'dead' THEN p.dlt_trouble END,
       dlt_attempts = CASE WHEN r.state <> 'dead' THEN p.dlt_attempts ELSE 0 END, dlt_next_at = CASE WHEN r.state <> 'dead' THEN p.dlt_next_at ELSE '-infinity' END,
       attempt_log = (CASE WHEN jsonb_array_length(p.attempt_log) >= ${MAX_LOG} THEN p.attempt_log - 0 ELSE p.attempt_log END)
         || jsonb_build_object('at', :at::text, 'code', r.code, 'detail', r.detail)
     FROM json_to_recordset(:rows::json) AS r(id bigint, state text, holds boolean, attempts int, "nextAttemptAt" timestamptz, since timestamptz,
       code text, detail text, pointer text, fingerprint text, "failedIn" text, "rootCause" text)
     WHERE p.id = r.id`,
    { now, at: now.toISOString(), rows: JSON.stringify(failed.map(({ id, failure }) => ({ id, ...failure }))) },
  );
}

/** Remembers, in the transaction that resolved their heads, keys whose next turn is given in a later one: a crash between the two strands nothing. */
export function rememberTurns(tx: Tx, keys: readonly ChannelKey[], now: Date): Promise<PendingTurn[]> {
  if (keys.length === 0) return Promise.resolve([]);
  return query<PendingTurn>(
    tx,
    `INSERT INTO parked_key_end (channel_id, key, at) SELECT c, k, :now FROM unnest(:channelIds::int[], :keys::text[]) u(c, k)
     RETURNING id, channel_id AS "channelId", key`,
    { channelIds: keys.map(({ channelId }) => channelId), keys: keys.map(({ key }) => key), now },
  );
}

/** Turns that an other process remembered and did not give: it ended between its two transactions, or is slow. */
export function turnsLeft(database: Database, before: Date): Promise<PendingTurn[]> {
  return database.query<PendingTurn>(
    `SELECT id, channel_id AS "channelId", key FROM parked_key_end WHERE at < :before ORDER BY id LIMIT 500`,
    { before },
  );
}

export async function forgetTurns(tx: Tx, turns: readonly PendingTurn[]): Promise<void> {
  await query(tx, `DELETE FROM parked_key_end WHERE id = ANY(:ids::bigint[])`, { ids: turns.map(({ id }) => id) });
}
