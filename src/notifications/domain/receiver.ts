import type { Violation } from '../../platform/errors';
import { addressFault } from './address';
import { type Channel, CHANNELS } from './notification';
import { isZone, type QuietHours } from './quiet-hours';

/** Told about a kind of event over these channels. A kind and channel stands in one of a receiver's subscriptions only. */
export interface Subscription {
  kind: string;
  channels: readonly Channel[];
  /** null: about all partners. */
  partners: readonly string[] | null;
}

/** Who is told, as staff say it. */
export interface ReceiverDraft {
  id: string;
  name: string;
  email: string | null;
  phone: string | null;
  webhookUrl: string | null;
  quietHours: QuietHours | null;
  subscriptions: readonly Subscription[];
}

/** A person or system that is told what happens. Addresses are personal data. */
export interface Receiver extends ReceiverDraft {
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export const RECEIVER_ID_PATTERN = '^[a-z][a-z0-9-]{0,63}$';
const RECEIVER_ID = new RegExp(RECEIVER_ID_PATTERN);
/** Which of a receiver's addresses a channel takes. */
export const ADDRESSES = { email: 'email', sms: 'phone', webhook: 'webhookUrl' } as const satisfies Record<
  Channel,
  keyof ReceiverDraft
>;
const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u;
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

/**
 * What no receiver may be, whoever writes it: what would break a row, a header or a reading of it. Which kinds there are and where webhooks may lead is
 * for whoever lets people write receivers.
 */
export function receiverViolations(draft: ReceiverDraft): Violation[] {
  const found: Violation[] = [];
  const say = (pointer: string, detail: string | undefined) => detail !== undefined && found.push({ pointer, detail });
  if (!RECEIVER_ID.test(draft.id)) say('/id', `must match ${RECEIVER_ID_PATTERN}`);
  if (!PRINTABLE.test(draft.name)) say('/name', 'must be 1 to 100 printable characters');
  for (const channel of CHANNELS) {
    const address = draft[ADDRESSES[channel]];
    if (address !== null) say(`/${ADDRESSES[channel]}`, addressFault(channel, address));
  }
  quietViolations(draft.quietHours, say);
  subscriptionViolations(draft, say);
  return found;
}

type Say = (pointer: string, detail: string | undefined) => void;

function quietViolations(quiet: QuietHours | null, say: Say): void {
  if (!quiet) return;
  for (const end of ['from', 'to'] as const)
    if (!TIME.test(quiet[end])) say(`/quietHours/${end}`, 'must be a time of day: 22:00');
  if (quiet.from === quiet.to) say('/quietHours/to', 'must be another time than from');
  if (!isZone(quiet.timeZone)) say('/quietHours/timeZone', 'must be the name of a time zone: Europe/Berlin');
}

function subscriptionViolations(draft: ReceiverDraft, say: Say): void {
  const seen = new Set<string>();
  draft.subscriptions.forEach(({ kind, channels, partners }, n) => {
    if (partners?.length === 0) say(`/subscriptions/${n}/partners`, 'must name a partner, or be left out');
    channels.forEach((channel, c) => {
      const pointer = `/subscriptions/${n}/channels/${c}`;
      if (draft[ADDRESSES[channel]] === null) say(pointer, `needs ${ADDRESSES[channel]}, which this receiver has not`);
      if (seen.has(`${kind} ${channel}`)) say(pointer, `${kind} goes over ${channel} already`);
      seen.add(`${kind} ${channel}`);
    });
  });
}
