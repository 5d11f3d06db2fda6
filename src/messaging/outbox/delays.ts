import type { Database } from '../../platform/database';
import type { RelayReport } from './relay-report';
import type { SentAddress } from './receipts';

/**
 * Why these messages, which are neither in Kafka nor parked, are not sent: a sentence by `seq`. One that is missing is on its way.
 * As old as the owner's last report, a third of its lease.
 */
export async function delaysOf(db: Database, unsent: readonly SentAddress[]): Promise<Map<string, string>> {
  if (unsent.length === 0) return new Map();
  const [relay] = await db.query<{ alive: boolean; lanes: RelayReport['failingLanes'] | null }>(
    `SELECT owner IS NOT NULL AND lease_until > clock_timestamp() AS alive, report -> 'failingLanes' AS lanes FROM outbox_cursor`,
  );
  const reasonOf = ({ topic, partition }: SentAddress): string | undefined => {
    if (!relay?.alive) return 'No relay is at work; a process whose ROLES name the relay goes on with it.';
    const lane = relay.lanes?.find((failing) => failing.topic === topic && failing.partition === partition);
    return lane && `The broker has not taken it since ${lane.since.slice(0, 19)}Z (${lane.error}); it is tried again.`;
  };
  return new Map(
    unsent.flatMap((message) => {
      const reason = reasonOf(message);
      return reason === undefined ? [] : [[message.seq, reason] as const];
    }),
  );
}
