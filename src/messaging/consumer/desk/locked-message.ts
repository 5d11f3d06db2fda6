import { query, type Tx } from '../../../platform/database';
import { NonRetriableError } from '../../../platform/errors';
import type { ChannelKey } from '../record-identity';

/** A parked message as far as the desk decides about it. */
export interface LockedMessage {
  /** Decimal text. */
  id: string;
  version: number;
  state: string;
  channelId: number;
  key: string | null;
  holds: boolean;
  topic: string;
  partition: number;
  offset: string;
}

const COLUMNS = 'id, version, state, channel_id AS "channelId", key, holds, topic, partition, "offset"';

/** The keys of these messages. They never change, so that they can be read before anything is locked. */
export async function keysOf(tx: Tx, ids: readonly string[]): Promise<ChannelKey[]> {
  return query<ChannelKey>(
    tx,
    `SELECT DISTINCT channel_id AS "channelId", key FROM parked_inbound WHERE id = ANY(:ids::bigint[]) AND key IS NOT NULL`,
    { ids },
  );
}

/** Locks these messages, sorted; their keys were locked before. */
export function lockMessages(tx: Tx, ids: readonly string[]): Promise<LockedMessage[]> {
  return query<LockedMessage>(
    tx,
    `SELECT ${COLUMNS} FROM parked_inbound WHERE id = ANY(:ids::bigint[]) ORDER BY id FOR UPDATE`,
    { ids },
  );
}

/**
 * Locks those of these messages that are dead letters, sorted; their keys were locked before. What another replay has sent is left alone: a drain
 * may have it in hand for as long as a handler takes, and wait itself for one that is held behind. In the words of `firstDeadOf`, for its reason.
 */
export async function lockDead(tx: Tx, ids: readonly string[]): Promise<LockedMessage[]> {
  const rows = await query<LockedMessage>(
    tx,
    `SELECT ${COLUMNS} FROM parked_inbound WHERE id = ANY(:ids::bigint[]) AND state <> ALL('{waiting,held}') ORDER BY id FOR UPDATE`,
    { ids },
  );
  return rows.filter(({ state }) => state === 'dead');
}

/** Locks one message, which must be as somebody has seen it. */
export async function lockOne(
  tx: Tx,
  id: string,
  version: number,
  state: 'dead' | 'discarded',
): Promise<LockedMessage> {
  const [message] = await lockMessages(tx, [id]);
  if (!message) throw new NonRetriableError('parked-unknown', `There is no parked message ${id}.`);
  // First: who acts on what was changed meanwhile is told that, whatever it has become.
  if (message.version !== version) {
    throw new NonRetriableError('version-stale', `The message ${id} was changed meanwhile.`, {
      hint: 'GET it again and send the new ETag.',
    });
  }
  if (message.state !== state) {
    throw new NonRetriableError(`parked-not-${state}`, `The message ${id} is ${message.state}, not ${state}.`, {
      hint: 'GET it again to see what became of it.',
    });
  }
  return message;
}
