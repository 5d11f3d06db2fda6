import { query, queryAnew, type Tx } from '../../platform/database';

/** One row of the inbox. */
export interface InboxEntry {
  channelId: number;
  messageId: string;
  /** Hex. */
  hash: string;
  partition: number;
  offset: bigint;
}

/** Identity of an entry within this process: channel ids are numbers, so the first space ends one. */
export function inboxKey(channelId: number, messageId: string): string {
  return `${channelId} ${messageId}`;
}

const byIdentity = (a: InboxEntry, b: InboxEntry): number =>
  a.channelId - b.channelId || (a.messageId < b.messageId ? -1 : a.messageId > b.messageId ? 1 : 0);

/** What was ever taken. The first lock of every transaction that applies or parks a record. */
export class Inbox {
  /**
   * Takes these records, each identity once, and returns the {@link inboxKey}s that nobody had taken before. Waits for an
   * other transaction that is taking one of them: when it commits, the record is not ours. Rows are inserted sorted, so
   * that two consumers of overlapping records wait for each other in one direction only.
   */
  async take(tx: Tx, entries: readonly InboxEntry[], now: Date): Promise<ReadonlySet<string>> {
    const sorted = [...entries].sort(byIdentity);
    const rows = await query<{ c: number; m: string }>(
      tx,
      `INSERT INTO inbox (channel_id, message_id, hash, partition, "offset", received_at)
       SELECT c, m, decode(h, 'hex'), p, o, :now FROM unnest(:channelId::int[], :messageId::text[], :hash::text[], :partition::int[], :offset::bigint[]) u(c, m, h, p, o)
       ON CONFLICT DO NOTHING RETURNING channel_id AS c, message_id AS m`,
      {
        now,
        channelId: sorted.map((entry) => entry.channelId),
        messageId: sorted.map((entry) => entry.messageId),
        hash: sorted.map((entry) => entry.hash),
        partition: sorted.map((entry) => entry.partition),
        offset: sorted.map((entry) => entry.offset),
      },
    );
    return new Set(rows.map((row) => inboxKey(row.c, row.m)));
  }

  /** Hashes (hex) of taken records by {@link inboxKey}. A statement of its own, since the one that met the row could not see it. */
  async hashes(tx: Tx, entries: readonly InboxEntry[]): Promise<ReadonlyMap<string, string>> {
    const rows = await queryAnew<{ c: number; m: string; h: string }>(
      tx,
      `SELECT channel_id AS c, message_id AS m, encode(hash, 'hex') AS h
       FROM inbox JOIN unnest(:channelId::int[], :messageId::text[]) u(c, m) ON channel_id = c AND message_id = m`,
      {
        channelId: entries.map((entry) => entry.channelId),
        messageId: entries.map((entry) => entry.messageId),
      },
    );
    return new Map(rows.map((row) => [inboxKey(row.c, row.m), row.h]));
  }
}
