import type { NotificationKind } from '../domain/kind';
import { AT_ONCE, MINUTE_MS } from './patience';

export const confirmationCode: NotificationKind = {
  name: 'confirmation-code',
  summary: 'A code that somebody types in to confirm something, on request of another system.',
  channels: ['sms', 'email'],
  crash: 'repeat',
  quietHours: 'ignore',
  urgency: 'high',
  expiresMs: 10 * MINUTE_MS,
  retry: AT_ONCE,
  source: 'request',
  required: ['code'],
  example: {
    code: '493 817',
    // What is confirmed: completes "Your code for …".
    purpose: 'signing in to the order portal',
  },
  secret: true,
};
