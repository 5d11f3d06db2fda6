import type { NotificationKind } from '../domain/kind';
import { HOUR_MS, URGENT } from './patience';

export const partnerSilent: NotificationKind = {
  name: 'partner-silent',
  summary: 'A partner has sent nothing for long, while we wait for an answer of it.',
  channels: ['email', 'sms', 'webhook'],
  crash: 'repeat',
  quietHours: 'ignore',
  urgency: 'normal',
  expiresMs: 24 * HOUR_MS,
  retry: URGENT,
  source: 'event',
  required: ['partner', 'at', 'since', 'count'],
  example: {
    partner: { id: 'acme', name: 'Acme Ltd' },
    at: '2026-11-30T09:15:00.000Z',
    // When it was last heard of, or when the oldest of our requests went out.
    since: '2026-11-29T08:30:00.000Z',
    // Requests that wait for its answer.
    count: 3,
  },
};
