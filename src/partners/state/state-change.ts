import { type PartnerState, standingInWords } from '../../messaging/channels';
import { NonRetriableError } from '../../platform/errors';
import type { Partner } from '../partner.entity';

/** What staff do about a partner as a whole. */
export type StateVerb = 'pause' | 'suspend' | 'resume';

/**
 * A suspended partner can't be paused: what it has sent would be applied with that, which only a resumption may do.
 */
const CHANGES: Readonly<Record<StateVerb, { from: readonly PartnerState[]; to: PartnerState; done: string }>> = {
  pause: { from: ['active'], to: 'paused', done: 'paused' },
  suspend: { from: ['active', 'paused'], to: 'suspended', done: 'suspended' },
  resume: { from: ['paused', 'suspended'], to: 'active', done: 'resumed' },
};

/** Where the verb takes the partner. Throws `partner-state` where it can't. */
export function stateAfter(partner: Partner, verb: StateVerb): PartnerState {
  const { from, to, done } = CHANGES[verb];
  if (from.includes(partner.state)) return to;
  throw new NonRetriableError('partner-state', `${standingInWords(partner.id, partner)} It cannot be ${done}.`);
}
