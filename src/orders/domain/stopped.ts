import type { PartnerStanding, PartnerState } from '../../messaging/channels';
import type { StepName } from './timeline';

/** `words`: how it stands, since when and why; a sentence. */
export type Standing = Pick<PartnerStanding, 'state' | 'stateSince'> & { words: string };

const MEANING: Readonly<Record<Exclude<PartnerState, 'active'>, string>> = {
  paused: 'Until it is resumed nothing is sent to it, and no deadline passes.',
  suspended:
    'Until it is resumed nothing is sent to it, what it sends is kept and not applied, and no deadline passes.',
};

/** That nothing goes on with an order because of its partner; undefined where it does. */
export function stopped(standing: Standing | undefined): { at: Date | null; step: StepName; text: string } | undefined {
  if (!standing || standing.state === 'active') return undefined;
  const { state, stateSince: at, words } = standing;
  return { at, step: `partner-${state}`, text: `${words} ${MEANING[state]}` };
}
