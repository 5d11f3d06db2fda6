import type { Acl, SecurityAdmin } from '../../messaging/kafka';
import type { Clock } from '../../platform/clock';
import { type Database, query } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { audit, type Caller } from '../../staff';
import { withPartnerLock } from '../partner-lock';
import { type Account, principalOf } from './account';
import { Accounts, COLUMNS } from './accounts';

/**
 * What keeps an account from everything. Rules that deny go before all that allow, also before what others gave to everybody; and taken
 * away again they leave what there was, whoever made it.
 */
export const denials = (username: string): Acl[] =>
  (['topic', 'group', 'transactional-id'] as const).map((resource) => ({
    principal: principalOf(username),
    ...{ resource, name: '*', pattern: 'literal', operation: 'All', permission: 'deny', host: '*' },
  }));

/** Takes an account's rights away and gives them back: shows whether anybody still needs it before it is gone for good. */
export class Disabling {
  private readonly accounts: Accounts;

  constructor(
    private readonly database: Database,
    private readonly security: SecurityAdmin,
    private readonly clock: Clock,
  ) {
    this.accounts = new Accounts(database);
  }

  /** Again: nothing happens. Throws `account-unknown`, `account-retired`, `partner-busy`. */
  disable(partner: string, username: string, by: Caller, reason?: string): Promise<Account> {
    return withPartnerLock(this.database, partner, async () => {
      await this.expectLive(partner, username);
      // Written first: a crash in between leaves nobody shut out without its being shown.
      const account = await this.record(partner, username, true, by, reason);
      await this.security.addAcls(denials(username));
      return account;
    });
  }

  /** Again: nothing happens. The same rules may be an administrator's where Parley did not disable it. Throws as {@link disable}. */
  enable(partner: string, username: string, by: Caller, reason?: string): Promise<Account> {
    return withPartnerLock(this.database, partner, async () => {
      const account = await this.expectLive(partner, username);
      if (account.disabledAt === null) return account;
      await this.security.deleteAcls(denials(username));
      return this.record(partner, username, false, by, reason);
    });
  }

  private async expectLive(partner: string, username: string): Promise<Account> {
    const account = await this.accounts.find(partner, username);
    if (account.state !== 'retired') return account;
    throw new NonRetriableError('account-retired', `${username} was retired, and its number is not used again.`, {
      hint: `Another account is made with: parley partner rotate ${partner}`,
    });
  }

  private record(
    partner: string,
    username: string,
    disabled: boolean,
    by: Caller,
    reason: string | undefined,
  ): Promise<Account> {
    const now = this.clock.now();
    return this.database.transaction(async (tx) => {
      const [changed] = await query<Account>(
        tx,
        `UPDATE partner_account SET disabled_at = CASE WHEN :disabled::boolean THEN :now::timestamptz END
         WHERE username = :username AND (disabled_at IS NOT NULL) <> :disabled::boolean RETURNING ${COLUMNS}`,
        { username, disabled, now },
      );
      if (!changed) {
        const [same] = await query<Account>(tx, `SELECT ${COLUMNS} FROM partner_account WHERE username = :username`, {
          username,
        });
        return same as Account;
      }
      const action = disabled ? 'partner-account.disable' : 'partner-account.enable';
      await audit(tx, { by, action, object: `partner-account/${username}`, partner, reason }, now);
      return changed;
    });
  }
}
