import type { NotificationNote } from '../../../src/notifications';
import { notified } from '../../../src/orders/domain/notified';

const AT = new Date('2026-03-01T12:00:00.000Z');
const note = (change: Partial<NotificationNote>): NotificationNote => ({
  id: 'n-1',
  kind: 'order-accepted',
  channel: 'email',
  receiver: 'ops-desk',
  receiverName: 'Operations',
  state: 'pending',
  doubtful: false,
  createdAt: AT,
  nextAttemptAt: AT,
  expiresAt: AT,
  settledAt: null,
  attempts: 0,
  firstBegunAt: null,
  code: null,
  detail: null,
  resendOf: null,
  ...change,
});
const settled = { settledAt: AT };

describe("a notification in an order's story", () => {
  it.each([
    [{}, 'notification-waiting', `E-mail to ops-desk about the acceptance: waits; due at ${AT.toISOString()}.`],
    [
      { attempts: 2, code: 'smtp-451', doubtful: true },
      'notification-waiting',
      `E-mail to ops-desk about the acceptance: waits, tried 2 times (smtp-451), may have gone out; due at ${AT.toISOString()}.`,
    ],
    [{ state: 'sending' }, 'notification-waiting', 'E-mail to ops-desk about the acceptance: is being sent.'],
    [
      { ...settled, state: 'sent', channel: 'sms', kind: 'order-shipped', resendOf: 'n-0' },
      'notified',
      'SMS to ops-desk about the despatch, sent anew by staff: sent.',
    ],
    [
      { ...settled, state: 'unknown', kind: 'order-rejected' },
      'notification-unknown',
      'E-mail to ops-desk about the rejection: may have gone out or not; staff are to find out and resolve n-1.',
    ],
    [
      {
        ...settled,
        state: 'failed',
        code: 'smtp-550',
        detail: 'The server knows no such mailbox.',
        kind: 'order-overdue',
      },
      'notification-failed',
      'E-mail to ops-desk about the overdue answer: failed: The server knows no such mailbox (n-1).',
    ],
    [
      { ...settled, state: 'failed', doubtful: true, code: 'may-have-gone-out' },
      'notification-failed',
      'E-mail to ops-desk about the acceptance: failed, and may have gone out: may-have-gone-out (n-1).',
    ],
    [
      { ...settled, state: 'cancelled', receiver: null, kind: 'message', channel: 'webhook' },
      'notification-cancelled',
      'Webhook to the address that was asked for about message: cancelled.',
    ],
    [
      { ...settled, state: 'expired', kind: 'order-changed' },
      'notification-expired',
      'E-mail to ops-desk about the acceptance with changes: not sent in time.',
    ],
  ] as const)('%j', (change, step, text) => {
    const at = step === 'notification-waiting' ? null : AT;
    expect(notified(note(change))).toEqual({ at, step, text });
  });
});
