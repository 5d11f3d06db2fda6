import type { NotificationKind } from '../domain/kind';
import { HOUR_MS, URGENT } from './patience';

export const deadLettersOpen: NotificationKind = {
  name: 'dead-letters-open',
  summary: 'Messages could not be sent or applied, and wait for a decision by staff.',
  channels: ['email', 'sms', 'webhook'],
  crash: 'repeat',
  quietHours: 'ignore',
  urgency: 'normal',
  expiresMs: 24 * HOUR_MS,
  retry: URGENT,
  source: 'event',
  required: ['at', 'count', 'since'],
  example: {
    at: '2026-11-30T09:15:00.000Z',
    count: 4,
    // When the oldest of them died.
    since: '2026-11-30T07:02:11.000Z',
    // What most of them died of, most frequent first.
    causes: [
      { code: 'order-unknown', count: 3 },
      { code: 'schema-unknown', count: 1 },
    ],
    // Absent: of several partners.
    partner: { id: 'acme', name: 'Acme Ltd' },
    partnerCount: 1,
    // Those that have most, at most ten.
    partners: [{ id: 'acme', name: 'Acme Ltd', count: 4 }],
  },
};
