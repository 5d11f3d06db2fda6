import { query, queryAnew, type Tx } from '../../../platform/database';
import { headsOf } from '../key-turns';
import { lockKeys } from '../parked';
import type { Release } from '../parked-desk';
import { type ChannelKey, sequenceOf } from '../record-identity';
import { keysOf, lockDead, type LockedMessage } from './locked-message';

/** What is decided about a dead letter. */
interface Placed {
  message: LockedMessage;
  /** `held`: an earlier one of its key has its turn before. */
  place: 'waiting' | 'held' | 'behind';
}

/**
 * Its keys are locked FOR SHARE: an end or a turn of them waits until it sees what is released, while arrivals, which lock them the
 * same way, go on.
 */
export async function release(
  tx: Tx,
  ids: readonly string[],
  replayId: string,
  now: Date,
): Promise<ReadonlyMap<string, Release>> {
  const result = new Map<string, Release>(ids.map((id) => [id, 'not-dead']));
  await lockKeys(tx, await keysOf(tx, ids), 'FOR SHARE');
  const dead = await lockDead(tx, ids);
  const placed = await place(tx, dead);
  for (const { message, place } of placed) result.set(message.id, place === 'behind' ? 'behind' : 'released');
  await give(tx, placed, replayId, now);
  return result;
}

async function place(tx: Tx, dead: readonly LockedMessage[]): Promise<Placed[]> {
  const byKey = Map.groupBy(dead, (message) =>
    message.holds && message.key !== null ? sequenceOf(withKey(message)) : '',
  );
  const keys = [...byKey].flatMap(([sequence, [message]]) => (sequence !== '' && message ? [withKey(message)] : []));
  const heads = new Map((await headsOf(tx, keys)).map((head) => [sequenceOf(head), head.id]));
  const bars = await firstDeadOf(tx, keys, dead);
  return [...byKey].flatMap(([sequence, messages]) =>
    messages.map((message): Placed => {
      if (sequence === '') return { message, place: 'waiting' };
      const bar = bars.get(sequence);
      if (bar !== undefined && BigInt(bar) < BigInt(message.id)) return { message, place: 'behind' };
      return { message, place: heads.get(sequence) === message.id ? 'waiting' : 'held' };
    }),
  );
}

/**
 * By sequence: the first dead letter of the key that stays one. It is called dead by what it isn't, so that only the index of open keys fits: on a table without statistics
 * the planner walked all dead letters of the channel (`plans.spec.ts`).
 */
async function firstDeadOf(
  tx: Tx,
  keys: readonly ChannelKey[],
  released: readonly LockedMessage[],
): Promise<ReadonlyMap<string, string>> {
  if (keys.length === 0) return new Map();
  const rows = await queryAnew<ChannelKey & { id: string }>(
    tx,
    `SELECT c AS "channelId", k AS key, d.id FROM unnest(:channelIds::int[], :keys::text[]) u(c, k), LATERAL (
       SELECT id FROM parked_inbound WHERE channel_id = c AND key = k AND holds AND state IN ('waiting', 'held', 'dead')
         AND state <> ALL('{waiting,held}') AND id <> ALL(:released::bigint[]) ORDER BY id LIMIT 1
     ) d`,
    {
      channelIds: keys.map(({ channelId }) => channelId),
      keys: keys.map(({ key }) => key),
      released: released.map(({ id }) => id),
    },
  );
  return new Map(rows.map((row) => [sequenceOf(row), row.id]));
}

async function give(tx: Tx, placed: readonly Placed[], replayId: string, now: Date): Promise<void> {
  for (const state of ['waiting', 'held'] as const) {
    const ids = placed.filter(({ place }) => place === state).map(({ message }) => message.id);
    if (ids.length === 0) continue;
    await query(
      tx,
      `UPDATE parked_inbound SET state = :state, next_attempt_at = CASE WHEN :state = 'waiting' THEN :now::timestamptz END, attempts = 0, counted_since = NULL,
         starts = 0, started_at = NULL, replay_id = :replayId, version = version + 1 WHERE id = ANY(:ids::bigint[])`,
      { ids, state, now, replayId },
    );
  }
}

const withKey = ({ channelId, key }: LockedMessage): ChannelKey => ({ channelId, key: key as string });
