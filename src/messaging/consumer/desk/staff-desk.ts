import { query, type Tx } from '../../../platform/database';
import { Inbox } from '../inbox';
import { giveTurns, holdBehindFirst, OF_KEY } from '../key-turns';
import { lockKeys, Parked } from '../parked';
import type { ParkedDesk, ParkedEdit, Release } from '../parked-desk';
import type { ChannelKey } from '../record-identity';
import { addEdit, decideEdit } from './edits';
import { keysOf, lockOne } from './locked-message';
import { release } from './release';

/** {@link ParkedDesk} over the tables: needs no consumer in its process. Locks as key-turns.ts says: keys, then messages. */
export class StaffDesk implements ParkedDesk {
  private readonly parked = new Parked();
  private readonly inbox = new Inbox();

  release(tx: Tx, ids: readonly string[], replayId: string, now: Date): Promise<ReadonlyMap<string, Release>> {
    return release(tx, ids, replayId, now);
  }

  /** One that is being tried just now is waited for, and is then waiting or not. What is due already is due since when it was: see `countedSince`. */
  async retryNow(tx: Tx, ids: readonly string[], now: Date): Promise<string[]> {
    const rows = await query<{ id: string }>(
      tx,
      `UPDATE parked_inbound SET next_attempt_at = least(next_attempt_at, :now), version = version + 1 WHERE state = 'waiting' AND id IN (
         SELECT id FROM parked_inbound WHERE id = ANY(:ids::bigint[]) AND state = 'waiting' ORDER BY id FOR UPDATE) RETURNING id`,
      { ids, now },
    );
    return rows.map((row) => row.id);
  }

  async discard(tx: Tx, id: string, version: number, by: { caller: string; reason: string }, now: Date): Promise<void> {
    const keys = await keysOf(tx, [id]);
    await lockKeys(tx, keys, 'FOR UPDATE');
    const { holds } = await lockOne(tx, id, version, 'dead');
    await query(
      tx,
      `UPDATE parked_inbound SET state = 'discarded', version = version + 1, resolved_at = :now, resolved_by = :caller, resolution = :reason WHERE id = :id`,
      { id, now, ...by },
    );
    if (holds) await giveTurns(tx, keys, now);
  }

  async restore(
    tx: Tx,
    id: string,
    version: number,
    _by: { caller: string; reason: string },
    now: Date,
  ): Promise<void> {
    const [place] = await query<ChannelKey>(
      tx,
      `SELECT channel_id AS "channelId", key FROM parked_inbound WHERE id = :id AND holds AND state = 'discarded'`,
      { id },
    );
    // Also where the key has ended meanwhile: from here on arrivals are held, and no turn is given.
    if (place) await this.parked.parkKeys(tx, [place], now);
    if (place) await awaitAttempt(tx, place);
    await lockOne(tx, id, version, 'discarded');
    await query(
      tx,
      `UPDATE parked_inbound SET state = 'dead', version = version + 1, resolved_at = NULL, resolved_by = NULL, resolution = NULL WHERE id = :id`,
      { id },
    );
    // A statement of its own: it sees what the attempt left.
    if (place) await holdBehindFirst(tx, [place]);
  }

  edit(tx: Tx, edit: ParkedEdit, version: number, now: Date): Promise<string> {
    return addEdit(tx, this.inbox, edit, version, now);
  }

  decide(tx: Tx, editId: string, verdict: 'approved' | 'refused', by: string, now: Date): Promise<void> {
    return decideEdit(tx, editId, verdict, by, now);
  }
}

/** Waits for a drain that has the key in hand: what it applies behind the restored message stays applied; after it nothing of the key is tried. */
async function awaitAttempt(tx: Tx, place: ChannelKey): Promise<void> {
  await query(tx, `SELECT 1 FROM parked_inbound WHERE ${OF_KEY} ORDER BY id LIMIT 1 FOR UPDATE`, { ...place });
}
