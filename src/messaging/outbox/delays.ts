import type { Database } from '../../platform/database';
import { reasonOf } from './parking/reasons';
import type { SentAddress } from './receipts';
import type { RelayReport } from './relay-report';

/**
 * What keeps these messages, which are neither in Kafka nor parked, from being sent: a sentence by `seq`. Of one that is missing no hindrance
 * is known. As old as the owner's report, so whoever shows it asks for receipts after it.
 */
export async function delaysOf(db: Database, unsent: readonly SentAddress[]): Promise<Map<string, string>> {
  if (unsent.length === 0) return new Map();
  const [relay] = await db.query<{ alive: boolean; lanes: RelayReport['failingLanes'] | null }>(
    `SELECT owner IS NOT NULL AND lease_until > clock_timestamp() AS alive, report -> 'failingLanes' AS lanes FROM outbox_cursor`,
  );
  const hindranceOf = ({ topic, partition }: SentAddress): string | undefined => {
    if (!relay?.alive) return 'No relay is at work; a process whose ROLES name the relay goes on with it.';
    const lane = relay.lanes?.find((failing) => failing.topic === topic && failing.partition === partition);
    if (!lane) return undefined;
    const since = `${lane.since.slice(0, 19)}Z`;
    return `${topic}/${partition} has taken nothing since ${since}, and is tried again. ${reasonOf(lane.code, lane.error)}`;
  };
  return new Map(
    unsent.flatMap((message) => {
      const hindrance = hindranceOf(message);
      return hindrance === undefined ? [] : [[message.seq, hindrance] as const];
    }),
  );
}
