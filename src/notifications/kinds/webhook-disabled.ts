import type { NotificationKind } from '../domain/kind';
import { HOUR_MS, URGENT } from './patience';

export const webhookDisabled: NotificationKind = {
  name: 'webhook-disabled',
  summary: 'A webhook failed for so long that nothing more is sent there until somebody enables it again.',
  channels: ['email', 'sms', 'webhook'],
  crash: 'repeat',
  quietHours: 'ignore',
  urgency: 'normal',
  expiresMs: 72 * HOUR_MS,
  retry: URGENT,
  source: 'event',
  required: ['receiver', 'at', 'since'],
  example: {
    receiver: { id: 'warehouse', name: 'Warehouse system' },
    at: '2026-11-30T09:15:00.000Z',
    // Since when it has failed.
    since: '2026-11-25T09:10:00.000Z',
    reason: 'It answered 503.',
    // Notifications that wait for it.
    count: 12,
  },
};
