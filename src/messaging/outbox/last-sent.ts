import type { Database } from '../../platform/database';
import { SEQUENCE_POSITION } from './read-query';

/** So many numbers back a lane's last receipt is looked for: it bounds the partitions that are opened. */
const SPAN = 5_000_000;

/** When the broker last acknowledged a message to a partner; who got none among the last {@link SPAN} is left out. One index entry a lane. */
export function lastSent(database: Database): Promise<{ partner: string; at: Date }[]> {
  return database.query<{ partner: string; at: Date }>(
    `SELECT c.partner, max(r.sent_at) AS at
     FROM (${SEQUENCE_POSITION}) s (position)
     CROSS JOIN channel c CROSS JOIN generate_series(0, c.partitions - 1) lane
     CROSS JOIN LATERAL (
       SELECT sent_at FROM outbox_receipt
       WHERE topic = c.topic AND partition = lane AND last_seq > s.position - ${SPAN} AND last_seq <= s.position
       ORDER BY last_seq DESC LIMIT 1
     ) r
     WHERE c.direction = 'out' GROUP BY 1`,
  );
}
