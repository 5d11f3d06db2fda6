import type { Database } from '../platform/database';
import { decodeCursor, type Page, pageOf } from '../platform/http';
import type { Caller, Role } from './principal';

/** An entry of the audit, as it was written. */
export interface AuditRecord {
  id: string;
  at: Date;
  caller: string;
  callerName: string;
  role: Role;
  action: string;
  object: string;
  partner: string | null;
  reason: string | null;
  detail: Record<string, unknown> | null;
  origin: string;
}

export interface AuditFilter {
  caller?: string | undefined;
  action?: string | undefined;
  object?: string | undefined;
  partner?: string | undefined;
  role?: Role | undefined;
  since?: Date | undefined;
}

/** Reading what staff did. */
export class AuditLog {
  constructor(private readonly database: Pick<Database, 'query'>) {}

  /** Newest first; who is confined to some partners reads what concerns these. Throws `cursor-invalid`. */
  async page(
    { partners }: Pick<Caller, 'partners'>,
    { caller, action, object, partner, role, since }: AuditFilter,
    limit: number,
    cursor?: string,
  ): Promise<Page<AuditRecord>> {
    const [before] = cursor === undefined ? [] : decodeCursor(cursor, [/^\d{1,18}$/]);
    const found = await this.database.query<AuditRecord>(
      `SELECT id, at, caller, caller_name AS "callerName", role, action, object, partner, reason, detail, origin
       FROM audit_entry
       WHERE (:caller::text IS NULL OR caller = :caller) AND (:action::text IS NULL OR action = :action)
         AND (:object::text IS NULL OR object = :object) AND (:partner::text IS NULL OR partner = :partner)
         AND (:role::text IS NULL OR role = :role) AND (:since::timestamptz IS NULL OR at >= :since)
         AND (:partners::text[] IS NULL OR partner = ANY(:partners)) AND (:before::bigint IS NULL OR id < :before)
       ORDER BY id DESC LIMIT :rows`,
      {
        partners,
        caller: caller ?? null,
        action: action ?? null,
        object: object ?? null,
        partner: partner ?? null,
        role: role ?? null,
        since: since ?? null,
        before: before ?? null,
        rows: limit + 1,
      },
    );
    return pageOf(found, limit, ({ id }) => [id]);
  }
}
