import type { CrashPolicy } from './kind';
import type { Channel, NotificationState } from './notification';

/** How whoever sends does, as far as it concerns what waits for it. */
export interface ProviderStanding {
  name: string;
  channel: Channel;
  /** Is there anything to send through, in this installation? */
  configured: boolean;
  failingSince: Date | null;
  openUntil: Date | null;
  disabledAt: Date | null;
  disabledReason: string | null;
  lastCode: string | null;
}

/** What the sentence is made of. */
export interface Standing {
  state: NotificationState;
  doubtful: boolean;
  attempts: number;
  nextAttemptAt: Date;
  expiresAt: Date;
  settledAt: Date | null;
  leaseUntil: Date | null;
  code: string | null;
  detail: string | null;
  secret: boolean;
  /** A provider refused its address for good, and nothing more is sent there. */
  marked: boolean;
  /** Absent: its kind is known no more. */
  crash: CrashPolicy | undefined;
  /** End of its receiver's quiet hours, where it waits for that. */
  quietUntil: Date | null;
  provider: ProviderStanding;
  /** The last attempt that was begun. */
  lastAttempt: { begunAt: Date; endedAt: Date | null; notifier: string } | null;
}

const NAMES: Readonly<Record<Channel, string>> = { email: 'e-mail', sms: 'SMS', webhook: 'webhook' };

/** What becomes of one in doubt when it is looked at again, where the provider doesn't remember our id. */
const DOUBTS: Readonly<Record<CrashPolicy, string>> = {
  repeat: 'it is sent again then, rather twice than never',
  skip: 'it is then sent again only where the provider does nothing twice, rather never than twice',
  'look-up': 'the provider is asked then; where it cannot tell, a person decides',
};

/** Where a notification stands and what happens next. */
export function standingInWords(one: Standing, now: Date): string {
  const settled = time(one.settledAt);
  const because = reason(one);
  switch (one.state) {
    case 'pending':
      return pending(one, now);
    case 'sending':
      return sending(one, now);
    case 'sent':
      return `Sent at ${settled}.${one.detail === null ? '' : ` ${sentence(one.detail)}`}`;
    case 'unknown':
      return `Unknown: ${mayHave(one)}.${because} Find out from its receiver, or in the log of whoever sends, and resolve it; or send it anew.`;
    case 'failed':
      return `Failed at ${settled}${one.doubtful ? `; ${mayHave(one)}` : ''}.${because}${mark(one)}`;
    case 'cancelled':
      return `Cancelled at ${settled}.${because}`;
    case 'expired':
      return `Expired at ${settled}${one.doubtful ? `; ${mayHave(one)}` : ''}.${because}`;
  }
}

function pending(one: Standing, now: Date): string {
  const { provider, nextAttemptAt, quietUntil, expiresAt, attempts } = one;
  if (one.doubtful) {
    const next = one.crash === undefined ? 'it waits' : DOUBTS[one.crash];
    return `In doubt: ${mayHave(one)}. Looked at again at ${time(laterOf(nextAttemptAt, provider.openUntil))}: ${next}.`;
  }
  if (now >= expiresAt) return `Expired at ${time(expiresAt)}: a notifier is about to note it.`;
  const held = providerInWords(provider, now);
  if (held !== undefined) return `Waiting: ${held}. It expires at ${time(expiresAt)}.`;
  if (nextAttemptAt > now && quietUntil && quietUntil <= nextAttemptAt)
    return `Waits for the quiet hours of its receiver to end at ${time(nextAttemptAt)}.`;
  if (nextAttemptAt > now)
    return attempts === 0
      ? `Due at ${time(nextAttemptAt)}.`
      : `Tried ${times(attempts)}; next at ${time(nextAttemptAt)}.${reason(one)}`;
  return `Due: a notifier takes it as soon as the rate of ${provider.name} lets it.`;
}

function sending({ leaseUntil, lastAttempt, attempts, provider }: Standing, now: Date): string {
  const isBegun = lastAttempt !== null && lastAttempt.endedAt === null;
  const since = isBegun ? ` since ${time(lastAttempt.begunAt)}, by ${lastAttempt.notifier}` : '';
  if (leaseUntil === null || leaseUntil > now)
    return isBegun
      ? `Being sent through ${provider.name}${since}: attempt ${attempts}.`
      : `A notifier has it and is about to send it through ${provider.name}.`;
  const gone = `The notifier that had it has not been heard of since ${time(leaseUntil)}`;
  return isBegun ? `${gone}: it may have gone out at ${time(lastAttempt.begunAt)}.` : `${gone}: another one takes it.`;
}

/** Why nothing goes through a provider now, without the full stop; undefined: it does. */
export function providerInWords(provider: ProviderStanding, now: Date): string | undefined {
  const { name, channel, configured, disabledAt, disabledReason, failingSince, openUntil, lastCode } = provider;
  if (!configured) return `no ${NAMES[channel]} is configured here`;
  if (disabledAt !== null)
    return `the provider ${name} is disabled since ${time(disabledAt)} (${bare(disabledReason ?? 'no reason recorded')}) until somebody enables it`;
  if (openUntil === null || openUntil <= now) return undefined;
  const since = failingSince === null ? '' : ` since ${time(failingSince)}`;
  return `the provider ${name} does not serve us${since}${lastCode === null ? '' : ` (${lastCode})`}; next try at ${time(openUntil)}`;
}

/** How a provider does that is not held up. */
export function tryingInWords(failures: number, { openUntil, failingSince, lastCode }: ProviderStanding): string {
  if (failures === 0) return 'Sends.';
  const last = `its last ${failures === 1 ? 'attempt' : `${failures} attempts`} failed`;
  const since = failingSince === null ? '' : `; it fails since ${time(failingSince)}`;
  const next = openUntil === null ? 'Is tried' : 'Is tried with one notification next';
  return `${next}, though ${last}${lastCode === null ? '' : ` (${lastCode})`}${since}.`;
}

const mark = ({ marked, secret }: Standing): string =>
  marked ? ` Its address is marked: once staff unmark it${secret ? '' : ' or send this anew'}, it is tried again.` : '';

const mayHave = ({ lastAttempt }: Standing): string =>
  `it may have gone out${lastAttempt === null ? '' : ` at ${time(lastAttempt.begunAt)}`}`;

const times = (count: number): string => ['', 'once', 'twice'][count] ?? `${count} times`;
const time = (at: Date | null): string => at?.toISOString() ?? 'an unknown time';
const laterOf = (at: Date, other: Date | null): Date => (other !== null && other > at ? other : at);
const bare = (text: string): string => text.replace(/[.\s]+$/, '');
const sentence = (text: string): string => `${bare(text)}.`;
const reason = ({ code, detail }: Standing): string =>
  detail === null ? (code === null ? '' : ` (${code})`) : ` ${sentence(detail)}`;
