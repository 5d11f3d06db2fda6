import type { NotificationKind } from '../domain/kind';
import { ORDER_COURSE } from './patience';

export const orderAccepted: NotificationKind = {
  name: 'order-accepted',
  summary: 'A partner accepted an order as it was placed.',
  ...ORDER_COURSE,
  required: ['orderNumber', 'partner', 'at'],
  example: {
    orderNumber: 'PO-000000017',
    partner: { id: 'acme', name: 'Acme Ltd' },
    at: '2026-11-30T09:15:00.000Z',
    reason: 'Delivery in calendar week 50.',
  },
};
