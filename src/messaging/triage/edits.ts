import type { Database } from '../../platform/database';
import type { PatchOperation } from '../../platform/json';

export const EDIT_STATES = ['pending', 'approved', 'refused'] as const;

/** A document that stands in for the bytes of a dead letter, or would. */
export interface LetterEdit {
  id: string;
  /** `ce_id` under which it is applied; its cause is the original message. */
  messageId: string;
  document: unknown;
  diff: PatchOperation[];
  reason: string;
  state: (typeof EDIT_STATES)[number];
  madeBy: string;
  madeAt: Date;
  decidedBy: string | null;
  decidedAt: Date | null;
  /** It is what would be applied now. */
  current: boolean;
}

/** Edits of a message, in the order in which they were made. */
export function editsOf(database: Database, id: string): Promise<LetterEdit[]> {
  return database.query<LetterEdit>(
    `SELECT e.id, e.message_id AS "messageId", e.document, e.diff, e.reason, e.state, e.made_by AS "madeBy", e.made_at AS "madeAt",
       e.decided_by AS "decidedBy", e.decided_at AS "decidedAt", e.id = p.edit_id AND e.state = 'approved' AS current
     FROM parked_inbound p JOIN parked_edit e ON e.parked_id = p.id WHERE p.id = :id ORDER BY e.id`,
    { id },
  );
}
