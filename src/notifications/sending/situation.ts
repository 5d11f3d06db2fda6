import type { Provider } from '../channels/provider';
import type { Situation, Verdict } from '../domain/crash-policy';
import { crashPolicyOf, type NotificationKind } from '../domain/kind';
import { quietUntil } from '../domain/quiet-hours';
import { type Forsaken, WHY_FORSAKEN } from '../receivers/moves';
import type { Claimed } from './claims';

/** What a decision about it is made from. */
export function situationOf(
  { kind, provider, claimed }: { kind: NotificationKind; provider: Provider; claimed: Claimed },
  notification: Situation['notification'],
  leaseMs: number,
): Situation {
  const { quietFrom: from, quietTo: to, timeZone } = claimed;
  const isQuiet = kind.quietHours === 'respect' && from !== null && to !== null && timeZone !== null;
  const { remembersMs, timeoutMs } = provider;
  return {
    notification,
    kind: { crash: crashPolicyOf(kind, claimed.channel), retry: kind.retry },
    provider: { remembersMs, reachesWithinMs: leaseMs + timeoutMs, looksUp: provider.lookUp !== undefined },
    mayDisturb: (at) => (isQuiet ? (quietUntil({ from, to, timeZone }, at) ?? at) : at),
  };
}

/** Nobody is to be told any more; what was begun before may have gone out. */
export const forsaken = (code: Forsaken, { doubtful }: Claimed): Verdict => ({
  ...{ state: 'cancelled', doubtful, code },
  detail: WHY_FORSAKEN[code] + (doubtful ? ' Its last attempt may have gone out.' : ''),
});

/** Its address was refused for good, by an attempt of another notification. */
export const badAddress = ({ doubtful }: Claimed): Verdict => ({
  ...{ state: 'failed', doubtful, code: 'bad-address' },
  detail: 'The provider has refused this address for good; nothing is sent there until staff ask for it.',
});
