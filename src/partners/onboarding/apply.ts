import { addChannels, widenChannel } from '../../messaging/channels';
import { publish } from '../../messaging/evolution';
import type { Acl } from '../../messaging/kafka';
import type { Clock } from '../../platform/clock';
import { query, type Tx } from '../../platform/database';
import { AppError, NonRetriableError } from '../../platform/errors';
import { audit, type Caller } from '../../staff';
import { AccountIssuer, type IssuedAccount, type NewAccount, OLD_VALID_FOR_MS, replaced } from '../accounts';
import type { OnboardingParts } from './actual';
import { type Change, lineOf } from './domain/plan';
import { aclName } from './domain/rights';
import { disown, keyOf, own, type Resource } from './owned';
import { fulfilledSpec, type PartnerPlan } from './partner-plan';

type Of<K extends Change['kind']> = Extract<Change, { kind: K }>;

const DAY_MS = 86_400_000;

/**
 * Carries out a plan. Callers hold the partner's lock and have looked that nothing refuses it. Everything at the broker and the registry comes first,
 * each thing written down as ours before it is made; then one transaction makes the partner usable. A new account's secret is told last, and the
 * account counts only when it was: whatever fails before, the next attempt makes another secret.
 */
export class Application {
  constructor(
    private readonly parts: OnboardingParts,
    private readonly plan: PartnerPlan,
    private readonly by: Caller,
    private readonly clock: Clock,
  ) {}

  /** Rejects with what failed; what was done until then stays, and the next attempt goes on from there. */
  async run(tell: (account: IssuedAccount) => Promise<void>): Promise<IssuedAccount | undefined> {
    try {
      await this.addPartner();
      await this.topics();
      await this.rights();
      await this.limits();
      for (const change of this.of('subject')) await this.subject(change);
      await this.forgetWhatIsGone();
      const issued = await this.issue();
      await this.parts.database.transaction((tx) => this.finish(tx));
      if (!issued) return undefined;
      await tell(issued);
      await this.parts.database.transaction((tx) => this.told(tx, issued));
      return issued;
    } catch (error) {
      await this.auditFailure(error).catch(() => undefined);
      throw error;
    }
  }

  /** A partner without channels gets no orders. */
  private async addPartner(): Promise<void> {
    if (this.plan.actual.partner) return;
    const { partner: id, name } = this.plan.spec;
    await this.parts.database.transaction((tx) =>
      query(tx, 'INSERT INTO partner (id, name, created_at) VALUES (:id, :name, :now) ON CONFLICT (id) DO NOTHING', {
        id,
        name,
        now: this.clock.now(),
      }),
    );
  }

  private of<K extends Change['kind']>(kind: K): Of<K>[] {
    return this.plan.changes.filter((change): change is Of<K> => change.kind === kind);
  }

  private async topics(): Promise<void> {
    const changes = this.of('topic');
    if (changes.length === 0) return;
    await this.own(...changes.map(({ name }) => ({ kind: 'topic', name }) as const));
    await this.parts.admin.ensureTopics(changes.flatMap((change) => (change.op === '+' ? [change.topic] : [])));
    for (const change of changes) {
      if (change.op !== '~') continue;
      const options = change.differences.map(({ member, to }) => [member, to ?? ''] as const);
      await this.parts.security?.putTopicOptions(change.name, Object.fromEntries(options));
    }
  }

  private async rights(): Promise<void> {
    const [coming, going] = (['+', '-'] as const).map((op) =>
      this.of('acl').flatMap((change) => (change.op === op ? [change.acl] : [])),
    ) as [Acl[], Acl[]];
    const named = (acls: readonly Acl[]) => acls.map((acl) => ({ kind: 'acl', name: aclName(acl) }) as const);
    if (coming.length > 0) {
      await this.own(...named(coming));
      await this.parts.security?.addAcls(coming);
    }
    if (going.length > 0) {
      await this.parts.security?.deleteAcls(going);
      await disown(this.parts.database, this.plan.spec.partner, named(going));
    }
  }

  private async limits(): Promise<void> {
    for (const { username, quota } of this.of('quota')) {
      await this.own({ kind: 'quota', name: username });
      await this.parts.security?.putQuota(username, quota);
    }
  }

  private async subject({ name, step }: Of<'subject'>): Promise<void> {
    if (!this.parts.registry) return;
    await this.own({ kind: 'subject', name });
    const [outcome] = await publish(this.parts.registry, [step]);
    if (outcome?.result === 'registered' || outcome?.result === 'unchanged') return;
    const code = outcome?.result === 'plan-changed' ? 'partner-plan-changed' : 'schema-unregistered';
    throw new AppError(code, `The schema ${name} could not be registered: ${outcome?.reason ?? 'no reason is given'}`, {
      hint: 'Run it again: what was done stays done.',
    });
  }

  /** What was ours, was deleted by others, and is asked for no more. */
  private async forgetWhatIsGone(): Promise<void> {
    const { actual, spec } = this.plan;
    if (!actual.security) return;
    const there = new Set(actual.security.acls.map((acl) => keyOf({ kind: 'acl', name: aclName(acl) })));
    const made = new Set(this.plan.changes.map(({ kind, name }) => `${kind} ${name}`));
    const gone = [...actual.owned]
      .filter((key) => key.startsWith('acl ') && !there.has(key) && !made.has(key))
      .map((key): Resource => ({ kind: 'acl', name: key.slice('acl '.length) }));
    if (gone.length > 0) await disown(this.parts.database, spec.partner, gone);
  }

  private async issue(): Promise<IssuedAccount | undefined> {
    const [user] = this.of('user');
    return user?.op === '+' ? this.issuer?.issue(user.account, this.by) : undefined;
  }

  private async finish(tx: Tx): Promise<void> {
    const { spec, changes } = this.plan;
    const { partner } = spec;
    const now = this.clock.now();
    await query(tx, 'UPDATE partner SET name = :name WHERE id = :partner AND name <> :name', {
      partner,
      name: spec.name,
    });
    const added = this.of('channel').flatMap((change) => (change.op === '+' ? [change.channel] : []));
    if (added.length > 0) await addChannels(tx, added, now);
    for (const { op, name } of this.of('channel'))
      if (op === '~') await widenChannel(tx, name, spec.topics.maxMessageBytes);
    await query(
      tx,
      `INSERT INTO partner_spec (partner, spec, applied_at, applied_by) VALUES (:partner, :spec, :now, :by)
       ON CONFLICT (partner) DO UPDATE SET spec = EXCLUDED.spec, applied_at = EXCLUDED.applied_at, applied_by = EXCLUDED.applied_by`,
      { partner, spec: JSON.stringify(fulfilledSpec(this.plan.spec, this.plan.actual)), now, by: this.by.id },
    );
    for (const { op, account } of this.of('user')) if (op === '=') await this.know(tx, account, now);
    await audit(tx, this.entry({ changes: changes.map(lineOf) }), now);
  }

  /**
   * An account that others made, with a secret that they told; one that new clients got before ends later. It may be one that an onboarding of ours
   * began and told nobody of. Throws `account-exists`.
   */
  private async know(tx: Tx, { partner, username, kind }: NewAccount, now: Date): Promise<void> {
    const old = this.plan.actual.accounts.find(({ state }) => state === 'active');
    if (old) await replaced(tx, { partner, username: old.username, until: new Date(now.getTime() + OLD_VALID_FOR_MS) });
    const known = await query(
      tx,
      `INSERT INTO partner_account (partner, username, kind, state, created_at, created_by, valid_until)
       VALUES (:partner, :username, :kind, 'active', :now, :by, :until)
       ON CONFLICT (username) DO UPDATE SET state = 'active', kind = EXCLUDED.kind, valid_until = EXCLUDED.valid_until, attempt = NULL
       WHERE partner_account.partner = EXCLUDED.partner AND partner_account.state = 'creating' RETURNING 1`,
      {
        ...{ partner, username, kind, now, by: this.by.id },
        until: new Date(now.getTime() + this.plan.spec.credentialDays * DAY_MS),
      },
    );
    if (known.length > 0) return;
    throw new NonRetriableError('account-exists', `The account ${username} was made or ended by others meanwhile.`, {
      hint: 'Look at the new plan.',
    });
  }

  private async told(tx: Tx, { username, attempt }: IssuedAccount): Promise<void> {
    const { spec, actual } = this.plan;
    const now = this.clock.now().getTime();
    const old = actual.accounts.find(({ state }) => state === 'active');
    await this.issuer?.told(
      tx,
      { partner: spec.partner, username, attempt },
      {
        validUntil: new Date(now + spec.credentialDays * DAY_MS),
        replaces: old ? { username: old.username, until: new Date(now + OLD_VALID_FOR_MS) } : null,
      },
      this.by,
    );
  }

  private async auditFailure(error: unknown): Promise<void> {
    const code = error instanceof AppError ? error.code : 'internal';
    await this.parts.database.transaction((tx) =>
      audit(tx, this.entry({ failed: code, planned: this.plan.changes.map(lineOf) }), this.clock.now()),
    );
  }

  private entry(detail: Record<string, unknown>) {
    const { partner } = this.plan.spec;
    return {
      ...{ by: this.by, action: 'partner.onboard', object: `partner/${partner}`, partner },
      detail: { plan: this.plan.id, ...detail },
    };
  }

  private own(...resources: Resource[]): Promise<void> {
    return own(this.parts.database, this.plan.spec.partner, resources, this.clock.now());
  }

  private get issuer(): AccountIssuer | undefined {
    const { database, security } = this.parts;
    return security && new AccountIssuer(database, security, this.clock);
  }
}
