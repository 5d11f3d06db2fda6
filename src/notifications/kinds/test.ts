import type { NotificationKind } from '../domain/kind';
import { HOUR_MS, URGENT } from './patience';

export const test: NotificationKind = {
  name: 'test',
  summary: 'A test of one address, asked for by staff.',
  channels: ['email', 'sms', 'webhook'],
  crash: 'repeat',
  quietHours: 'ignore',
  urgency: 'high',
  expiresMs: HOUR_MS,
  retry: URGENT,
  source: 'staff',
  required: ['by', 'at'],
  example: {
    // The name of the key of whoever asked.
    by: 'Kim Doe',
    at: '2026-11-30T09:15:00.000Z',
  },
};
