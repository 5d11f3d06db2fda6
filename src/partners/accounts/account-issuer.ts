import { randomBytes, randomUUID } from 'node:crypto';
import type { SecurityAdmin } from '../../messaging/kafka';
import type { Clock } from '../../platform/clock';
import { type Database, query, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { audit, type Caller } from '../../staff';
import { deleteIfNobodys } from '../onboarding/domain/security';
import { own } from '../onboarding/owned';
import type { Account, NewAccount } from './account';
import { COLUMNS } from './accounts';

/** An account and, once, its secret. */
export interface IssuedAccount {
  username: string;
  /** Told to one person, and kept nowhere. undefined: the account is a certificate's. */
  password: string | undefined;
  /** Which of the attempts at making it has made this secret. */
  attempt: string;
}

/**
 * Makes accounts: {@link issue}, then tell the secret, then {@link told}. A crash in between leaves the account `creating`, and the next
 * attempt replaces the secret that perhaps nobody knows. Callers hold the partner's lock, and give the rights themselves; a lock ends with its
 * connection, so the account remembers whose secret it has.
 */
export class AccountIssuer {
  constructor(
    private readonly database: Database,
    private readonly security: SecurityAdmin,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes the account, or a new secret for one that is `creating`. Throws `account-foreign` where the broker has a user of this name that
   * Parley did not make, and `account-exists`.
   */
  async issue(account: NewAccount, by: Caller): Promise<IssuedAccount> {
    const { partner, username, kind } = account;
    await this.expectPossible(account);
    const attempt = randomUUID();
    const begun = await this.database.transaction((tx) =>
      query(
        tx,
        `INSERT INTO partner_account (partner, username, kind, state, created_at, created_by, attempt)
         VALUES (:partner, :username, :kind, 'creating', :now, :by, :attempt)
         ON CONFLICT (username) DO UPDATE SET attempt = EXCLUDED.attempt
         WHERE partner_account.partner = EXCLUDED.partner AND partner_account.state = 'creating' RETURNING 1`,
        { partner, username, kind, now: this.clock.now(), by: by.id, attempt },
      ),
    );
    if (begun.length === 0) throw exists(account);
    if (kind === 'tls') return { username, password: undefined, attempt };
    // Only now: a user of somebody else's must not be taken for ours.
    await own(this.database, partner, [{ kind: 'user', name: username }], this.clock.now());
    const password = randomBytes(24).toString('base64url');
    await this.database.transaction(async (tx) => {
      // Behind the row's lock: whoever begins anew puts another secret after this one, and who was overtaken puts none.
      const ours = await query(
        tx,
        `SELECT 1 FROM partner_account WHERE username = :username AND state = 'creating' AND attempt = :attempt FOR UPDATE`,
        { username, attempt },
      );
      if (ours.length === 0) throw overtaken({ partner, username });
      await this.security.putUser({ username, password });
    });
    return { username, password, attempt };
  }

  /** Changes nothing. Throws as {@link issue}. */
  async expectPossible(account: NewAccount): Promise<void> {
    const { partner, username, kind } = account;
    const [known] = await this.database.query<Pick<Account, 'partner' | 'state'>>(
      'SELECT partner, state FROM partner_account WHERE username = :username',
      { username },
    );
    if (known && (known.partner !== partner || known.state !== 'creating')) throw exists(account);
    if (!known) await this.expectFree(username, kind);
  }

  /**
   * The secret is known to somebody: the account is active, until `validUntil`. The one that new clients got before, if there is one, retires at
   * `replaces.until`. Throws `account-exists` when it is not `creating`, or has another secret by now.
   */
  async told(
    tx: Tx,
    { partner, username, attempt }: Pick<Account, 'partner'> & Pick<IssuedAccount, 'username' | 'attempt'>,
    { validUntil, replaces }: { validUntil: Date; replaces: { username: string; until: Date } | null },
    by: Caller,
  ): Promise<Account> {
    const now = this.clock.now();
    if (replaces) await replaced(tx, { partner, ...replaces });
    const [account] = await query<Account>(
      tx,
      `UPDATE partner_account SET state = 'active', valid_until = :validUntil
       WHERE username = :username AND state = 'creating' AND (attempt = :attempt OR kind = 'tls') RETURNING ${COLUMNS}`,
      { username, validUntil, attempt },
    );
    if (!account) throw overtaken({ partner, username });
    const detail = {
      kind: account.kind,
      validUntil: validUntil.toISOString(),
      ...(replaces && { replaces: replaces.username, replacedUntil: replaces.until.toISOString() }),
    };
    const object = `partner-account/${username}`;
    await audit(tx, { by, action: 'partner-account.create', object, partner, detail }, now);
    return account;
  }

  private async expectFree(username: string, kind: Account['kind']): Promise<void> {
    if (!(await this.security.users([username])).has(username)) return;
    throw new NonRetriableError('account-foreign', `The broker has a user ${username} that Parley did not make.`, {
      hint:
        kind === 'tls'
          ? "It has a password, and so is no certificate of the partner's: name the subject of that, as the broker's mapping rule makes it."
          : deleteIfNobodys(username),
    });
  }
}

/** The account that new clients got works on until its end. */
export async function replaced(tx: Tx, end: { partner: string; username: string; until: Date }): Promise<void> {
  await query(
    tx,
    `UPDATE partner_account SET state = 'retiring', valid_until = :until, warned_at = NULL
     WHERE username = :username AND partner = :partner AND state = 'active'`,
    end,
  );
}

const exists = ({ partner, username, kind }: NewAccount): NonRetriableError =>
  kind === 'tls'
    ? new NonRetriableError('account-exists', `The subject ${username} is an account already.`, {
        hint: 'A certificate that was renewed under the same subject needs nothing here. The subject of an account that was retired does not come back: the certificate needs another.',
      })
    : new NonRetriableError(
        'account-exists',
        `The account ${username} is there already, and its secret is kept nowhere.`,
        {
          hint: `A secret that was lost is replaced by another account: parley partner rotate ${partner}`,
        },
      );

const overtaken = ({ partner, username }: Pick<Account, 'partner' | 'username'>): NonRetriableError =>
  new NonRetriableError(
    'account-exists',
    `The account ${username} was made anew, or ended, by others while this attempt was on its way: a secret that was told here opens nothing.`,
    {
      hint: `Use what the other attempt told. If nobody knows that, replace the account: parley partner rotate ${partner}`,
    },
  );
