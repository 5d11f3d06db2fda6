import type { NotificationKind } from '../domain/kind';
import { HOUR_MS, URGENT } from './patience';

export const orderOverdue: NotificationKind = {
  name: 'order-overdue',
  summary: 'A partner has not answered an order, or its cancellation, by the deadline.',
  channels: ['email', 'sms', 'webhook'],
  crash: 'repeat',
  quietHours: 'ignore',
  urgency: 'normal',
  expiresMs: 24 * HOUR_MS,
  retry: URGENT,
  source: 'event',
  required: ['orderNumber', 'partner', 'at', 'deadline'],
  example: {
    orderNumber: 'PO-000000017',
    partner: { id: 'acme', name: 'Acme Ltd' },
    at: '2026-11-30T09:15:00.000Z',
    deadline: '2026-11-30T09:00:00.000Z',
    // How often the request has been sent again.
    count: 2,
    // Absent: the order itself is not answered; otherwise our wish to cancel it.
    cancellation: true,
  },
};
