import type { PartnerState } from '../../messaging/channels';
import { NonRetriableError } from '../../platform/errors';
import type { Partner } from '../partner.entity';

/** What staff do about a partner as a whole. */
export const STATE_VERBS = ['pause', 'suspend', 'resume'] as const;
export type StateVerb = (typeof STATE_VERBS)[number];

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
  throw new NonRetriableError('partner-state', `${sentenceOf(partner)} It cannot be ${done}.`);
}

/** How it stands, since when and why, for people. */
export function sentenceOf({
  id,
  state,
  stateSince,
  stateReason,
}: Pick<Partner, 'id' | 'state' | 'stateSince' | 'stateReason'>): string {
  if (state === 'active') return `${id} is active.`;
  return `${id} is ${state} since ${stateSince?.toISOString() ?? 'it was added'}: ${stateReason ?? 'no reason recorded'}.`.replace(
    /([.!?])\.$/,
    '$1',
  );
}
