import type { Channel, NotificationData } from './notification';

/**
 * What becomes of a notification whose last attempt may or may not have had its effect (we were killed, or the answer never came), once the
 * provider's memory of our id can't be relied on. `repeat`: sent again; rather twice than never. `skip`: given up; rather never than twice.
 * `look-up`: the provider is asked; where it can't be, a person decides.
 */
export const CRASH_POLICIES = ['repeat', 'skip', 'look-up'] as const;
export type CrashPolicy = (typeof CRASH_POLICIES)[number];

/** How a notification that was refused for now is tried again: exponential backoff with full jitter. */
export interface NotificationRetry {
  /** Upper end of the first pause, ms; it doubles. */
  initialMs: number;
  /** Upper end of every pause, ms. */
  maxMs: number;
  attempts: number;
}

/** Through one provider what is more urgent goes first. Rows keep the place in this list: it only grows at its end. */
export const URGENCIES = ['high', 'normal', 'low'] as const;
export type Urgency = (typeof URGENCIES)[number];

export type KindSource = 'event' | 'request' | 'staff';

/** Everything that Parley may tell somebody: one file each, listed in `kinds/catalogue.ts`, its templates beside it. */
export interface NotificationKind {
  /** `order-accepted`: what is subscribed to, names the templates, and is a webhook's `type` behind `parley.`. */
  name: string;
  /** One sentence for people. */
  summary: string;
  /** Ways that it may take; the first is taken where nobody chose. */
  channels: readonly [Channel, ...Channel[]];
  crash: CrashPolicy;
  /** Over channels where it is another one. */
  crashOver?: Readonly<Partial<Record<Channel, CrashPolicy>>>;
  /** Does it wait while its receiver wants quiet? */
  quietHours: 'respect' | 'ignore';
  /** `high`: somebody waits in front of a screen; `normal`: somebody is to act on it today; `low`: it can wait for all others. */
  urgency: Urgency;
  /** After that it is worth nothing, ms from its event. */
  expiresMs: number;
  retry: NotificationRetry;
  /** `event`: Parley tells it by itself, to whoever subscribed. `request`: other systems ask for it. `staff`: staff ask for it. */
  source: KindSource;
  /** Members of its data that must be there. Those in the example that are not named here may be missing. */
  required: readonly string[];
  example: NotificationData;
  /** What it says is shown to nobody, staff included, and is deleted when it is settled. */
  secret?: boolean;
}

/** What becomes of a notification of the kind over that channel when nobody knows whether it went out. */
export const crashPolicyOf = (
  { crash, crashOver }: Pick<NotificationKind, 'crash' | 'crashOver'>,
  channel: Channel,
): CrashPolicy => crashOver?.[channel] ?? crash;
