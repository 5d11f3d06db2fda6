import type { Channel } from '../domain/notification';
import type { QuietHours } from '../domain/quiet-hours';

/** Where a receiver is reached; null: not that way. */
export interface Addresses {
  email: string | null;
  phone: string | null;
  webhookUrl: string | null;
}

/** Which address a channel takes. */
export const ADDRESSES = { email: 'email', sms: 'phone', webhook: 'webhookUrl' } as const satisfies Record<
  Channel,
  keyof Addresses
>;

/** Whose limits and whose breaker count. Each webhook is one of its own: one that is dead costs the others nothing. */
export const providerOf = (channel: Channel, receiver: string | null): string =>
  channel === 'webhook' ? `webhook/${receiver}` : channel;

/** Quiet hours as a row has them: all three, or none. */
export const quietOf = (row: {
  quietFrom: string | null;
  quietTo: string | null;
  timeZone: string | null;
}): QuietHours | null =>
  row.quietFrom === null || row.quietTo === null || row.timeZone === null
    ? null
    : { from: row.quietFrom.slice(0, 5), to: row.quietTo.slice(0, 5), zone: row.timeZone };
