import type { Contract } from './contract';
import jsonSchema from './order-cancellation.v1.schema.json';

/** We ask a partner not to deliver an order. Whoever has despatched any of it refuses. */
export interface OrderCancellation {
  orderNumber: string;
  /** RFC 3339, UTC. */
  issuedAt: string;
  /** For people. */
  reason: string;
}

export const orderCancellation: Contract<OrderCancellation> = {
  name: 'order-cancellation',
  version: 1,
  summary: 'We ask a partner not to deliver an order; its answer is what both sides go by.',
  direction: 'out',
  topic: 'orders.{partner}.request.v1',
  key: 'orderNumber',
  deadlineMs: 60 * 60 * 1000,
  resend: { times: 2, everyMs: 30 * 60 * 1000 },
  laterMessages: 'hold',
  jsonSchema,
  examples: [{ orderNumber: '4500017', issuedAt: '2026-02-03T05:00:00.000Z', reason: 'ordered twice' }],
};
