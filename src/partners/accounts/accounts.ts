import type { Database } from '../../platform/database';
import type { Account } from './account';

export const COLUMNS = `partner, username, kind, state, created_at AS "createdAt", created_by AS "createdBy",
  valid_until AS "validUntil", disabled_at AS "disabledAt", retired_at AS "retiredAt", last_seen_at AS "lastSeenAt",
  last_seen_from AS "lastSeenFrom"`;

/** Which accounts partners have at the broker. */
export class Accounts {
  constructor(private readonly database: Pick<Database, 'query'>) {}

  /** All of a partner, oldest first; retired ones too. */
  of(partner: string): Promise<Account[]> {
    return this.ofAll([partner]);
  }

  ofAll(partners: readonly string[]): Promise<Account[]> {
    return this.database.query<Account>(
      `SELECT ${COLUMNS} FROM partner_account WHERE partner = ANY(:partners::text[]) ORDER BY id`,
      { partners },
    );
  }
}
