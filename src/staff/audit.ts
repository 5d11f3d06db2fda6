import { query, type Tx } from '../platform/database';
import type { Caller } from './principal';

/** What somebody did. */
export interface AuditEntry {
  by: Pick<Caller, 'id' | 'name' | 'role' | 'origin'>;
  /** What was done: `dead-letter.discard`. */
  action: string;
  /** On what: `dead-letter/4711`, `group/<fingerprint>`, `replay/<id>`, `lane/<topic>/<partition>`, `api-key/<id>`, `order/<number>`. */
  object: string;
  partner?: string | undefined;
  /** Why, in the caller's words. */
  reason?: string | undefined;
  /** What changed; never a document's content, never a secret. */
  detail?: Record<string, unknown> | undefined;
}

/** The book of what staff did: written in the transaction of the deed, appended to and nothing else (a trigger holds that). */
export async function audit(
  tx: Tx,
  { by, action, object, partner, reason, detail }: AuditEntry,
  now: Date,
): Promise<void> {
  await query(
    tx,
    `INSERT INTO audit_entry (at, caller, caller_name, role, action, object, partner, reason, detail, origin)
     VALUES (:now, :caller, :name, :role, :action, :object, :partner, :reason, :detail, :origin)`,
    {
      now,
      caller: by.id,
      name: by.name,
      role: by.role,
      origin: by.origin,
      action,
      object,
      partner: partner ?? null,
      reason: reason ?? null,
      detail: detail === undefined ? null : JSON.stringify(detail),
    },
  );
}
