import type { Database } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
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

  /** The one that new clients get. */
  async active(partner: string): Promise<Account | undefined> {
    return (await this.of(partner)).find(({ state }) => state === 'active');
  }

  /** Throws `account-unknown`. */
  async find(partner: string, username: string): Promise<Account> {
    const account = (await this.of(partner)).find((one) => one.username === username);
    if (account) return account;
    throw new NonRetriableError('account-unknown', `${partner} has no account ${username}.`, {
      hint: `Its accounts: parley partner show ${partner}`,
    });
  }
}

/** Those of all partners that open something at the broker, or may soon. */
export const liveAccounts = (database: Pick<Database, 'query'>): Promise<Account[]> =>
  database.query<Account>(`SELECT ${COLUMNS} FROM partner_account WHERE state <> 'retired' ORDER BY id`);
