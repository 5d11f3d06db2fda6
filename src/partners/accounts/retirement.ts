import type { SecurityAdmin } from '../../messaging/kafka';
import type { Clock } from '../../platform/clock';
import { type Database, query } from '../../platform/database';
import { messageOf, NonRetriableError } from '../../platform/errors';
import { audit, type Caller } from '../../staff';
import { aclName } from '../onboarding/domain/rights';
import { disown, keyOf, ownedBy, type Resource } from '../onboarding/owned';
import { withPartnerLock } from '../partner-lock';
import { type Account, principalOf } from './account';
import { Accounts, COLUMNS } from './accounts';
import { denials } from './disabling';

export interface RetirementPass {
  retired: string[];
  failed: { username: string; reason: string }[];
}

/**
 * Ends accounts: rights, limits and user go at the broker, then the row says so. Each step can be said twice, so an end that was broken off
 * is done by the next attempt. Without rights every further request is refused, also on connections that are open. What others made stays: a user
 * of theirs, and what they let the holder of a certificate do.
 */
export class Retirement {
  private readonly accounts: Accounts;

  constructor(
    private readonly database: Database,
    private readonly security: SecurityAdmin,
    private readonly clock: Clock,
  ) {
    this.accounts = new Accounts(database);
  }

  /** Those whose date has passed. What fails, and a partner that somebody else is changing, is left for the next pass. */
  async retireDue(by: Caller, partner?: string): Promise<RetirementPass> {
    const due = await this.database.query<Pick<Account, 'partner' | 'username'>>(
      `SELECT partner, username FROM partner_account
       WHERE state = 'retiring' AND valid_until <= :now AND (:partner::text IS NULL OR partner = :partner::text) ORDER BY id`,
      { now: this.clock.now(), partner: partner ?? null },
    );
    const pass: RetirementPass = { retired: [], failed: [] };
    for (const { partner: owner, username } of due) {
      try {
        await this.retire(owner, username, by, 'its date has passed');
        pass.retired.push(username);
      } catch (error) {
        pass.failed.push({ username, reason: messageOf(error) });
      }
    }
    return pass;
  }

  /**
   * One that was replaced, or that was never told, before its date. A retired one stays so. Throws `account-unknown`, `account-in-use` for
   * the one that new clients get, `partner-busy`.
   */
  retire(partner: string, username: string, by: Caller, reason?: string): Promise<Account> {
    return withPartnerLock(this.database, partner, async () => {
      const account = await this.accounts.find(partner, username);
      if (account.state === 'retired') return account;
      if (account.state === 'active') throw inUse(account);
      const owned = await ownedBy(this.database, partner);
      const isOurs = (resource: Resource) => owned.has(keyOf(resource));
      const isOurUser = isOurs({ kind: 'user', name: username });
      // Where Parley did not disable it, the same rules are an administrator's.
      const disabling = new Set(account.disabledAt ? denials(username).map(aclName) : []);
      const rights = (await this.security.acls({ principal: principalOf(username) })).filter(
        (acl) => isOurUser || disabling.has(aclName(acl)) || isOurs({ kind: 'acl', name: aclName(acl) }),
      );
      await this.security.deleteAcls(rights);
      if (isOurs({ kind: 'quota', name: username })) await this.security.putQuota(username, {});
      if (isOurUser) await this.security.deleteUser(username);
      await disown(this.database, partner, [
        ...rights.map((acl): Resource => ({ kind: 'acl', name: aclName(acl) })),
        ...(['quota', 'user'] as const).map((kind): Resource => ({ kind, name: username })),
      ]);
      return this.recordEnd(account, by, reason);
    });
  }

  private recordEnd({ partner, username, state }: Account, by: Caller, reason?: string): Promise<Account> {
    const now = this.clock.now();
    return this.database.transaction(async (tx) => {
      const [ended] = await query<Account>(
        tx,
        `UPDATE partner_account SET state = 'retired', retired_at = :now, disabled_at = NULL
         WHERE username = :username RETURNING ${COLUMNS}`,
        { username, now },
      );
      const object = `partner-account/${username}`;
      await audit(tx, { by, action: 'partner-account.retire', object, partner, reason, detail: { was: state } }, now);
      return ended as Account;
    });
  }
}

const inUse = ({ partner, username }: Account): NonRetriableError =>
  new NonRetriableError('account-in-use', `${username} is the account that new clients get.`, {
    hint: `Make another with "parley partner rotate ${partner}" first. Where it must open nothing from now on: parley partner rotate ${partner} --disable "${username}"`,
  });
