import type { Clock } from '../../platform/clock';
import { AppError } from '../../platform/errors';
import type { Caller } from '../../staff';
import type { IssuedAccount } from '../accounts';
import { withPartnerLock } from '../partner-lock';
import type { OnboardingParts } from './actual';
import { Application } from './apply';
import { expectApplicable, type PartnerPlan, planPartner } from './partner-plan';
import type { PartnerSpec } from './partner-spec';

export interface ApplyOptions {
  /** Take away what is ours and no longer asked for. */
  allowDelete?: boolean;
  /** Only if this is still the plan. */
  planId?: string | undefined;
  /**
   * Hands what was done, and the secret of the account that was made, to somebody, while the account does not count yet; rejects when that can't be
   * sure. Not called where no account is made.
   */
  tell?: (applied: Applied) => Promise<void>;
}

export interface Applied {
  plan: PartnerPlan;
  /** With its secret, told here and never again; undefined where no account was made. */
  account: IssuedAccount | undefined;
}

/** Makes a partner what its file says: compares, shows, applies. Again changes nothing; after a failure it goes on. */
export class Onboarder {
  constructor(
    private readonly parts: OnboardingParts,
    private readonly clock: Clock,
  ) {}

  /** Rejects as the broker, the registry and the database do; `schema-breaks` where a schema breaks a published one. */
  plan(spec: PartnerSpec, { allowDelete = false }: Pick<ApplyOptions, 'allowDelete'> = {}): Promise<PartnerPlan> {
    return planPartner(this.parts, spec, { allowDelete });
  }

  /**
   * Throws `partner-busy` while somebody else changes this partner, `partner-plan-changed` when the plan is no longer the one that was seen, and what
   * the plan is refused with: `channel-differs`, `partition-count-differs`, `account-foreign`. Nothing is deleted without `allowDelete`.
   */
  apply(spec: PartnerSpec, by: Caller, { allowDelete = false, planId, tell }: ApplyOptions = {}): Promise<Applied> {
    return withPartnerLock(this.parts.database, spec.partner, async () => {
      const plan = await this.plan(spec, { allowDelete });
      if (planId !== undefined && plan.id !== planId) throw planChanged(spec.partner);
      expectApplicable(plan);
      if (plan.changes.length === 0) return { plan, account: undefined };
      const telling = async (account: IssuedAccount) => tell?.({ plan, account });
      return { plan, account: await new Application(this.parts, plan, by, this.clock).run(telling) };
    });
  }
}

const planChanged = (partner: string): AppError =>
  new AppError(
    'partner-plan-changed',
    `What is there of ${partner}, or its file, changed since the plan was made. Nothing was done.`,
    {
      hint: 'Look at the new plan, and apply that.',
    },
  );
