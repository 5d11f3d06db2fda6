import type { NotificationKind } from '../domain/kind';
import { ORDER_COURSE } from './patience';

export const orderShipped: NotificationKind = {
  name: 'order-shipped',
  summary: 'A partner despatched an order, or a part of it.',
  ...ORDER_COURSE,
  required: ['orderNumber', 'partner', 'at', 'despatchNumber'],
  example: {
    orderNumber: 'PO-000000017',
    partner: { id: 'acme', name: 'Acme Ltd' },
    at: '2026-11-30T09:15:00.000Z',
    despatchNumber: 'DA-4711',
    carrier: 'DHL',
    trackingNumber: '00340434161094000001',
    // Absent: everything that was agreed has left with this despatch and those before it.
    partly: true,
  },
};
