import { query, queryAnew, type Tx } from '../../platform/database';
import { lockKeys } from './parked';
import type { ChannelKey } from './record-identity';

// The order of locks among what is parked: keys (sorted), then messages (sorted by id). Arrivals lock keys FOR SHARE and insert messages;
// whoever gives a key its next turn, ends it or lets a message back in front of it locks it FOR UPDATE. A drain's attempt
// locks messages that wait, without waiting for any, then orders and exchanges, and no key: so an arrival never waits for a handler, and there is no
// circle. Inbox ids stand before all of these.

/** First unresolved message of a key, among those that keep their place in it. */
interface Head {
  channelId: number;
  key: string;
  /** null: there is none. */
  id: string | null;
  state: string | null;
}

/**
 * Lets the next message of each key have its turn, or ends the key where none is left; returns how many turns were given. Three statements,
 * the look after the lock: an arrival either committed what it holds behind the key before we look, or waits for us and then
 * finds no key. (One DELETE … WHERE NOT EXISTS looks at rows as they were when it began, and strands what was held while it
 * waited.) A key that is not there any more has had its end: nothing is done about it, for whoever parks it anew meanwhile is
 * held up by no lock of ours.
 */
export async function giveTurns(tx: Tx, keys: readonly ChannelKey[], now: Date): Promise<number> {
  const heads = await headsOf(tx, await lockKeys(tx, keys, 'FOR UPDATE'));
  await endKeys(
    tx,
    heads.filter(({ id }) => id === null),
  );
  const next = heads.flatMap(({ id, state }) => (state === 'held' && id !== null ? [id] : []));
  if (next.length === 0) return 0;
  await query(
    tx,
    `UPDATE parked_inbound SET state = 'waiting', next_attempt_at = :now, version = version + 1 WHERE id = ANY(:ids::bigint[]) AND state = 'held'`,
    { ids: next, now },
  );
  return next.length;
}

/** Planned anew: a kept plan may be one for a table that was small. */
export async function headsOf(tx: Tx, keys: readonly ChannelKey[]): Promise<Head[]> {
  if (keys.length === 0) return [];
  return queryAnew<Head>(
    tx,
    `SELECT c AS "channelId", k AS key, h.id, h.state FROM unnest(:channelIds::int[], :keys::text[]) u(c, k)
     LEFT JOIN LATERAL (
       SELECT id, state FROM parked_inbound WHERE channel_id = c AND key = k AND holds AND state IN ('waiting', 'held', 'dead') ORDER BY id LIMIT 1
     ) h ON true`,
    { channelIds: keys.map(({ channelId }) => channelId), keys: keys.map(({ key }) => key) },
  );
}

/** SQL: what is unresolved of a key and keeps its place in it. */
export const OF_KEY = `channel_id = :channelId AND key = :key AND holds AND state IN ('waiting', 'held', 'dead')`;

/**
 * Of what holds a key only the first is ever waiting; the others are held. Asked behind whatever came to stand in front: a message that staff brought
 * back, or, while a record was with its handler, whatever else parked its key. Their age begins anew with their turn, which may be days from now. The caller
 * holds the keys' locks.
 */
export async function holdBehindFirst(tx: Tx, keys: readonly ChannelKey[]): Promise<void> {
  for (const { channelId, key } of keys) {
    await query(
      tx,
      `UPDATE parked_inbound SET state = 'held', next_attempt_at = NULL, counted_since = NULL, version = version + 1
       WHERE ${OF_KEY} AND state = 'waiting' AND id > (SELECT id FROM parked_inbound WHERE ${OF_KEY} ORDER BY id LIMIT 1)`,
      { channelId, key },
    );
  }
}

async function endKeys(tx: Tx, keys: readonly ChannelKey[]): Promise<void> {
  for (const [channelId, ofChannel] of Map.groupBy(keys, (key) => key.channelId)) {
    await query(tx, `DELETE FROM parked_key WHERE channel_id = :channelId AND key = ANY(:keys::text[])`, {
      channelId,
      keys: ofChannel.map(({ key }) => key),
    });
  }
}
