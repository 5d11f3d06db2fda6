import type { NotificationKind } from '../domain/kind';
import { ORDER_COURSE } from './patience';

export const orderRejected: NotificationKind = {
  name: 'order-rejected',
  summary: 'A partner rejected an order.',
  ...ORDER_COURSE,
  required: ['orderNumber', 'partner', 'at'],
  example: {
    orderNumber: 'PO-000000017',
    partner: { id: 'acme', name: 'Acme Ltd' },
    at: '2026-11-30T09:15:00.000Z',
    reason: 'Not in stock until March.',
  },
};
