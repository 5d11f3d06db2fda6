import type { NotificationKind } from '../domain/kind';
import { ORDER_COURSE } from './patience';

export const orderChanged: NotificationKind = {
  name: 'order-changed',
  summary: 'A partner accepted an order with other quantities or prices.',
  ...ORDER_COURSE,
  required: ['orderNumber', 'partner', 'at', 'lines'],
  example: {
    orderNumber: 'PO-000000017',
    partner: { id: 'acme', name: 'Acme Ltd' },
    at: '2026-11-30T09:15:00.000Z',
    lines: [
      { lineNumber: 1, quantity: '80', unitPrice: '12.50' },
      { lineNumber: 2, quantity: '5.5', unitPrice: '7' },
    ],
    // Changed lines that are not listed here: an order may have a thousand. Absent: none.
    moreLines: 3,
    reason: 'The rest follows in March.',
  },
};
