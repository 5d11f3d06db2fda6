import { query } from '../../../../src/platform/database';
import type { ParkedDesk, Release } from '../../../../src/messaging/consumer';
import type { World } from '../../consumer/harness';

// Until the consumer's own is there.
export function deskOf(_world: World): ParkedDesk {
  return {
    async release(tx, ids, replayId, now) {
      const results = new Map<string, Release>(ids.map((id) => [id, 'not-dead']));
      await query(tx, `SELECT id FROM parked_inbound WHERE id = ANY(:ids::bigint[]) ORDER BY id FOR UPDATE`, { ids });
      const rows = await query<{ id: string }>(
        tx,
        `UPDATE parked_inbound SET state = 'waiting', next_attempt_at = :now, replay_id = :replayId, attempts = 0 WHERE id = ANY(:ids::bigint[]) AND state = 'dead' RETURNING id`,
        { ids, replayId, now },
      );
      for (const { id } of rows) results.set(id, 'released');
      return results;
    },
  } as ParkedDesk;
}
