import type { SecurityAdmin } from '../../messaging/kafka';
import type { Clock } from '../../platform/clock';
import type { Database } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import type { Caller } from '../../staff';
import { expectNobodys, giveRights, type Rights, rightsOfAccount, specOfPartner } from '../onboarding/account-rights';
import { faultOfSubject, type OwnAccounts, type PartnerSpec } from '../onboarding/partner-spec';
import { withPartnerLock } from '../partner-lock';
import { type Account, liveOf, type NewAccount, nextAccount } from './account';
import { AccountIssuer, type IssuedAccount } from './account-issuer';
import { Accounts } from './accounts';

/** More at once are no rotation any more, and each is a password that somebody may have. */
const MOST_LIVE = 3;
const DAY_MS = 86_400_000;
/** How long a replaced account works when nobody says otherwise. */
export const OLD_VALID_FOR_MS = 14 * DAY_MS;

export interface RotationRequest {
  partner: string;
  /** The account that new clients get until now. When another took its place meanwhile nothing happens: a repeat makes no further account. */
  replaces?: string;
  /** How long the replaced one works on, in ms. */
  oldValidForMs?: number;
  /** Certificate's subject, for a partner with certificates of its own. */
  subject?: string;
}

/** What a rotation does. */
export interface RotationPlan extends NewAccount {
  /** An attempt before this one was broken off: its account gets another secret. */
  resumes: boolean;
  validUntil: Date;
  replaces: { username: string; until: Date } | null;
}

/** Tells the secret to somebody; rejects when that can't be sure. */
export type Tell = (issued: IssuedAccount, plan: RotationPlan) => Promise<void>;

/** Another account beside the one that a partner has, with the same rights and limits; both work until the old one's date. */
export class Rotation {
  private readonly accounts: Accounts;
  private readonly issuer: AccountIssuer;

  constructor(
    private readonly database: Database,
    private readonly security: SecurityAdmin,
    private readonly clock: Clock,
    private readonly own: OwnAccounts,
  ) {
    this.accounts = new Accounts(database);
    this.issuer = new AccountIssuer(database, security, clock);
  }

  /**
   * Makes the account and gives it its rights, then has its secret told, then counts it as active. Throws `partner-not-onboarded`,
   * `account-replaced`, `accounts-too-many`, `subject-missing`, `subject-unfit`, `account-exists`, `account-foreign`, `partner-busy`.
   */
  rotate(request: RotationRequest, by: Caller, tell: Tell): Promise<Account> {
    const { database, security } = this;
    return withPartnerLock(database, request.partner, async () => {
      const plan = await this.planned(request);
      const rights = await this.expectPossible(plan);
      const issued = await this.issuer.issue(plan, by);
      await giveRights({ database, security, now: this.clock.now() }, plan, rights);
      await tell(issued, plan);
      return database.transaction((tx) => this.issuer.told(tx, { ...plan, attempt: issued.attempt }, plan, by));
    });
  }

  /** Changes nothing. Throws as {@link rotate}. */
  async plan(request: RotationRequest): Promise<RotationPlan> {
    const plan = await this.planned(request);
    await this.expectPossible(plan);
    return plan;
  }

  /** What the account would be given. */
  private async expectPossible(plan: RotationPlan): Promise<Rights> {
    const { database, security } = this;
    await this.issuer.expectPossible(plan);
    const rights = await rightsOfAccount(database, plan.partner, plan.username);
    if (plan.kind === 'tls' && !plan.resumes) await expectNobodys({ database, security }, plan, rights);
    return rights;
  }

  private async planned(request: RotationRequest): Promise<RotationPlan> {
    const { partner, replaces, subject, oldValidForMs = OLD_VALID_FOR_MS } = request;
    const spec = await specOfPartner(this.database, partner);
    if (!spec) throw notOnboarded(partner);
    expectSubject(spec, subject, this.own);
    const accounts = await this.accounts.of(partner);
    const active = accounts.find(({ state }) => state === 'active');
    if (replaces !== undefined && active?.username !== replaces) throw replaced(replaces, active);
    const next = nextAccount(partner, accounts, subject);
    const live = liveOf(accounts);
    const resumes = live.some(({ username, state }) => username === next.username && state === 'creating');
    if (!resumes && live.length >= MOST_LIVE) throw tooMany(partner, live);
    const now = this.clock.now().getTime();
    return {
      ...next,
      resumes,
      validUntil: new Date(now + spec.credentialDays * DAY_MS),
      replaces: active ? { username: active.username, until: new Date(now + oldValidForMs) } : null,
    };
  }
}

function expectSubject({ authentication: { type } }: PartnerSpec, subject: string | undefined, own: OwnAccounts): void {
  if (type === 'tls' && subject === undefined) {
    throw new NonRetriableError('subject-missing', 'This partner comes with certificates of its own.', {
      hint: "Name the new certificate's subject, as the broker's mapping rule makes it.",
      violations: [{ pointer: '/subject', detail: 'must be the subject of the new certificate' }],
    });
  }
  if (type !== 'tls' && subject !== undefined) {
    throw new NonRetriableError('subject-unfit', 'This partner comes with a password, not with a certificate.', {
      hint: 'Leave the subject out, or change authentication in its file and onboard it again.',
      violations: [{ pointer: '/subject', detail: 'must be left out' }],
    });
  }
  const fault = subject === undefined ? undefined : faultOfSubject(subject, own);
  if (fault === undefined) return;
  throw new NonRetriableError('subject-unfit', `The subject ${fault}.`, {
    hint: "Name the new certificate's subject, as the broker's mapping rule makes it.",
    violations: [{ pointer: '/subject', detail: fault }],
  });
}

const notOnboarded = (partner: string): NonRetriableError =>
  new NonRetriableError('partner-not-onboarded', `What ${partner} may do at the broker was never stated.`, {
    hint: `Write ${partner}.yaml, then: parley partner onboard ${partner} --file ${partner}.yaml --apply`,
  });

const replaced = (username: string, active: Account | undefined): NonRetriableError =>
  new NonRetriableError(
    'account-replaced',
    `${username} is not the account that new clients get${active ? `: ${active.username} is` : ''}.`,
    { hint: 'Look at the accounts of the partner; if its newest secret was lost, replace the newest account.' },
  );

const tooMany = (partner: string, live: readonly Account[]): NonRetriableError =>
  new NonRetriableError(
    'accounts-too-many',
    `${live.map(({ username }) => username).join(', ')} still open the broker, and ${MOST_LIVE} are the most at once.`,
    {
      // Quoted: a certificate's subject may have spaces.
      hint: `End one that nobody uses any more: parley partner rotate ${partner} --retire-now "${live.find(({ state }) => state !== 'active')?.username}"`,
    },
  );
