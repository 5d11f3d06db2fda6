import { PartnerStates } from '../../../../src/partners/state/partner-states';
import type { StateVerb } from '../../../../src/partners/state/state-change';
import { systemClock } from '../../../../src/platform/clock';
import type { Database } from '../../../../src/platform/database';
import type { Game } from './model-tables';
import type { Random } from './seeded';

const BY = { id: 'key_test', name: 'test', role: 'operator', areas: null, partners: null, origin: 'test' } as const;

/** Suspends and resumes the partners of the games. */
export class Suspensions {
  private readonly suspended = new Set<string>();
  private readonly states: PartnerStates;

  constructor(
    database: Database,
    private readonly random: Random,
    private readonly games: readonly Game[],
    private readonly partners: readonly string[],
  ) {
    this.states = new PartnerStates(database, systemClock);
  }

  /** Some of those who are served no longer are, and the other way round. */
  async some(): Promise<void> {
    for (const partner of this.partners) if (this.random.below(3) === 0) await this.toggle(partner);
  }

  /** Everybody is served again. */
  async end(): Promise<void> {
    for (const partner of [...this.suspended]) await this.toggle(partner);
  }

  /** Who is served is not, for a moment, a few times: what is under way then ends before it, or stays due. */
  async flicker(): Promise<void> {
    for (let times = this.random.below(4); times > 0; times--) {
      for (const partner of this.partners.filter((one) => !this.suspended.has(one))) {
        await this.change(partner, 'suspend');
        await this.change(partner, 'resume');
      }
    }
  }

  private async toggle(partner: string): Promise<void> {
    const isSuspended = !this.suspended.delete(partner);
    if (isSuspended) this.suspended.add(partner);
    await this.change(partner, isSuspended ? 'suspend' : 'resume');
    for (const game of this.games) if (game.partner === partner) game.model.isSuspended = isSuspended;
  }

  private async change(partner: string, verb: StateVerb): Promise<void> {
    await this.states.change({ partner, verb, reason: 'by plan', seen: undefined, by: BY });
  }
}
