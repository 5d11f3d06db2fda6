import type { NotificationKind } from '../domain/kind';
import { HOUR_MS, PATIENT } from './patience';

export const message: NotificationKind = {
  name: 'message',
  summary: 'A message to one person or system, on request of another system.',
  channels: ['email', 'sms', 'webhook'],
  crash: 'look-up',
  quietHours: 'respect',
  urgency: 'low',
  expiresMs: 72 * HOUR_MS,
  retry: PATIENT,
  source: 'request',
  required: ['title', 'text'],
  example: {
    title: 'Invoice 2026-4711 is ready',
    text: 'You find it in the portal under "Invoices".',
    // What it is about, of our orders.
    orderNumber: 'PO-000000017',
  },
};
