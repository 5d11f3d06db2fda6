import type { NotificationKind, NotificationRetry } from '../domain/kind';

const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;

/** What is still worth knowing tomorrow: a provider or a receiver's endpoint may be gone for a night. */
export const PATIENT: NotificationRetry = { initialMs: 30 * SECOND_MS, maxMs: 4 * HOUR_MS, attempts: 30 };

/** Somebody is to act on it today. */
export const URGENT: NotificationRetry = { initialMs: 10 * SECOND_MS, maxMs: 30 * MINUTE_MS, attempts: 60 };

/** Somebody waits in front of a screen. */
export const AT_ONCE: NotificationRetry = { initialMs: 2 * SECOND_MS, maxMs: 30 * SECOND_MS, attempts: 12 };

/** What each kind that tells of an order's course has in common. */
export const ORDER_COURSE: Pick<
  NotificationKind,
  'channels' | 'crash' | 'crashOver' | 'quietHours' | 'urgency' | 'expiresMs' | 'retry' | 'source'
> = {
  channels: ['email', 'webhook', 'sms'],
  crash: 'look-up',
  // Standard Webhooks has receivers know a repeat by `webhook-id`, and nobody can ask one: in doubt it is sent again, where for an e-mail, which
  // its reader would get twice, a person decides.
  crashOver: { webhook: 'repeat' },
  quietHours: 'respect',
  urgency: 'low',
  expiresMs: 72 * HOUR_MS,
  retry: PATIENT,
  source: 'event',
};
