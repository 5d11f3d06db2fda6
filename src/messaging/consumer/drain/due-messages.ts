import { type Database, query, queryAnew, type Tx } from '../../../platform/database';

/** A message that is due and, of its key, what stands behind it and is held, in order. */
export interface DueSequence {
  /** The head's id; it is the key's lock among drains. */
  head: string;
  /** The head's, when it was found due. */
  version: number;
  channelId: number;
  /** null: nothing is held behind it. */
  key: string | null;
  /** Ids, the head first. */
  ids: readonly string[];
}

interface Head {
  id: string;
  version: number;
  channelId: number;
  key: string | null;
  holds: boolean;
  bytes: number;
}

/** So many bytes of values are read at once; a single larger one is read alone. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Longest pause of what can't be tried for a reason of ours. */
const POSTPONED = '10 s';

/** Finds what is due. Reads neither resolved nor dead messages, however many there are. */
export class DueMessages {
  constructor(private readonly database: Database) {}

  /** Partners of which something is due and may be tried, by way of one index entry each. */
  async partners(now: Date): Promise<string[]> {
    const rows = await this.database.query<{ partner: string }>(
      `WITH RECURSIVE p AS (
         SELECT (SELECT min(partner) FROM parked_inbound WHERE state = 'waiting') AS partner
         UNION ALL SELECT (SELECT min(partner) FROM parked_inbound WHERE state = 'waiting' AND partner > p.partner) FROM p WHERE p.partner IS NOT NULL
       )
       SELECT partner FROM p WHERE partner IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM partner s WHERE s.id = p.partner AND s.state = 'suspended')
         AND EXISTS (SELECT 1 FROM parked_inbound i WHERE i.state = 'waiting' AND i.partner = p.partner AND i.next_attempt_at <= :now)`,
      { now },
    );
    return rows.map((row) => row.partner);
  }

  /** Up to `limit` messages of one partner. What another drain has in hand is passed over; nothing stays locked. */
  async take(partner: string, limit: number, now: Date): Promise<DueSequence[]> {
    const heads = await this.database.query<Head>(
      `SELECT id, version, channel_id AS "channelId", key, holds, coalesce(octet_length(raw_value), 0) AS bytes FROM parked_inbound
       WHERE state = 'waiting' AND partner = :partner AND next_attempt_at <= :now ORDER BY next_attempt_at, id LIMIT :limit FOR UPDATE SKIP LOCKED`,
      { partner, now, limit },
    );
    const holding = heads.filter(({ holds, key }) => holds && key !== null);
    const behind =
      holding.length < limit
        ? await this.database.query<{ head: string; id: string; state: string; bytes: number }>(
            `SELECT h.id AS head, f.id, f.state, f.bytes FROM unnest(:ids::bigint[], :channelIds::int[], :keys::text[]) h(id, c, k), LATERAL (
               SELECT id, state, coalesce(octet_length(raw_value), 0) AS bytes FROM parked_inbound
               WHERE channel_id = h.c AND key = h.k AND holds AND state IN ('waiting', 'held', 'dead') AND id > h.id ORDER BY id LIMIT :perKey
             ) f`,
            {
              ids: holding.map(({ id }) => id),
              channelIds: holding.map(({ channelId }) => channelId),
              keys: holding.map(({ key }) => key),
              perKey: Math.floor((limit - heads.length) / Math.max(1, holding.length)),
            },
          )
        : [];
    return withinBytes(
      heads,
      Map.groupBy(behind, ({ head }) => head),
    );
  }

  /** Not now: something of ours that they need is away. No attempt is counted, and no age; they come back one by one, so that none stands before the others. */
  async postpone(ids: readonly string[], now: Date): Promise<void> {
    await this.database.transaction((tx) =>
      query(
        tx,
        `UPDATE parked_inbound p SET next_attempt_at = later.at, counted_since = p.counted_since + (later.at - p.next_attempt_at) FROM (
           SELECT id, :now::timestamptz + random() * interval '${POSTPONED}' AS at FROM parked_inbound
           WHERE id = ANY(:ids::bigint[]) AND state = 'waiting' AND next_attempt_at <= :now ORDER BY id FOR UPDATE SKIP LOCKED) later
         WHERE p.id = later.id`,
        { ids, now },
      ),
    );
  }
}

/** Of each key what is held behind the head without a gap, as long as there is room. */
function withinBytes(
  heads: readonly Head[],
  behind: ReadonlyMap<string, readonly { id: string; state: string; bytes: number }[]>,
): DueSequence[] {
  const sequences: DueSequence[] = [];
  let room = MAX_BYTES;
  for (const { id: head, version, channelId, key, holds, bytes } of heads) {
    if (bytes > room && sequences.length > 0) break;
    room -= bytes;
    const ids = [head];
    for (const { id, state, bytes: size } of behind.get(head) ?? []) {
      // A dead letter holds what is behind it; what waits has its own turn.
      if (state !== 'held' || size > room) break;
      room -= size;
      ids.push(id);
    }
    sequences.push({ head, version, channelId, key: holds ? key : null, ids });
  }
  return sequences;
}

/**
 * Locks the heads that still wait and are due, as they were read, without waiting: from here to the end of the transaction no other drain has
 * anything of their keys. Returns, by head, its message and those behind it that are still next in their order (a message that staff
 * brought back may stand between); a head that somebody has in hand, or had meanwhile, is left out. Due is asked again, since a message is read after it was
 * taken: what another drain tried between the two has the version that was read, and waits for its next attempt.
 */
export async function lockSequences(
  tx: Tx,
  sequences: readonly DueSequence[],
  versions: ReadonlyMap<string, number>,
  now: Date,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await query<{ id: string; version: number }>(
    tx,
    `SELECT id, version FROM parked_inbound WHERE id = ANY(:ids::bigint[]) AND state = 'waiting' AND next_attempt_at <= :now
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    { ids: sequences.map(({ head }) => head), now },
  );
  const locked = new Map(rows.filter(({ id, version }) => versions.get(id) === version).map(({ id }) => [id, [id]]));
  const longer = sequences.filter(({ head, ids }) => locked.has(head) && ids.length > 1);
  if (longer.length === 0) return locked;
  const behind = await queryAnew<{ head: string; id: string; version: number }>(
    tx,
    `SELECT h.id AS head, f.id, f.version FROM unnest(:heads::bigint[], :channelIds::int[], :keys::text[]) WITH ORDINALITY h(id, c, k, n), LATERAL (
       SELECT id, version FROM parked_inbound
       WHERE channel_id = h.c AND key = h.k AND holds AND state IN ('waiting', 'held', 'dead') AND id > h.id ORDER BY id LIMIT :most
     ) f ORDER BY h.n, f.id`,
    {
      heads: longer.map(({ head }) => head),
      channelIds: longer.map(({ channelId }) => channelId),
      keys: longer.map(({ key }) => key),
      most: Math.max(...longer.map(({ ids }) => ids.length - 1)),
    },
  );
  const left = Map.groupBy(behind, ({ head }) => head);
  for (const { head, ids } of longer) {
    const next = left.get(head) ?? [];
    const change = ids.slice(1).findIndex((id, n) => next[n]?.id !== id || next[n].version !== versions.get(id));
    locked.set(head, change < 0 ? [...ids] : ids.slice(0, change + 1));
  }
  return locked;
}
