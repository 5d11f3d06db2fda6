import type { Database } from '../../platform/database';
import type { ParkedState } from './parked';

/** A partner's message that was not applied, without its content. */
export interface ParkedMessage {
  /** Under which staff find it; decimal text. */
  id: string;
  state: ParkedState;
  /** Why; null while it only waits behind another of its key. */
  code: string | null;
  detail: string | null;
  type: string | null;
  messageId: string | null;
  correlationId: string | null;
  topic: string;
  partition: number;
  /** Decimal text. */
  offset: string;
  parkedAt: Date;
  /** How often it was tried since it was parked or replayed, and when next; null unless it is `waiting`. */
  attempts: number;
  nextAttemptAt: Date | null;
}

/** Most messages that one look lists: a story, not an archive. */
const MOST = 100;

/** What of a partner's key is parked and unresolved, in the order in which it came; the first {@link MOST}. */
export function parkedOf(database: Database, partner: string, key: string): Promise<ParkedMessage[]> {
  return database.query<ParkedMessage>(
    `SELECT id, state, code, detail, type, message_id AS "messageId", correlation_id AS "correlationId", topic, partition, "offset", parked_at AS "parkedAt", attempts,
       next_attempt_at AS "nextAttemptAt"
     FROM parked_inbound WHERE partner = :partner AND key = :key AND state IN ('waiting', 'held', 'dead') ORDER BY id LIMIT ${MOST}`,
    { partner, key },
  );
}
