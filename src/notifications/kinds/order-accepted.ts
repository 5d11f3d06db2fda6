import type { NotificationKind } from '../domain/kind';
import { HOUR_MS, PATIENT, REPEATS_ARE_KNOWN } from './patience';

export const orderAccepted: NotificationKind = {
  name: 'order-accepted',
  summary: 'A partner accepted an order as it was placed.',
  channels: ['email', 'webhook', 'sms'],
  crash: 'look-up',
  crashOver: REPEATS_ARE_KNOWN,
  quietHours: 'respect',
  expiresMs: 72 * HOUR_MS,
  retry: PATIENT,
  source: 'event',
  required: ['orderNumber', 'partner', 'at'],
  example: {
    orderNumber: 'PO-000000017',
    partner: { id: 'acme', name: 'Acme Ltd' },
    at: '2026-11-30T09:15:00.000Z',
    reason: 'Delivery in calendar week 50.',
  },
};
