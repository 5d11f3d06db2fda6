import type { Contract } from './contract';
import jsonSchema from './order-request.v1.schema.json';

export interface OrderRequestLine {
  /** Position, from 1, unique in the order. */
  lineNumber: number;
  /** The partner's article number. */
  item: string;
  /** Decimal string, greater than 0. */
  quantity: string;
  /** UN/ECE Recommendation 20 code, `C62` is "one piece". */
  unit: string;
  /** Decimal string per unit, in the order's currency. */
  unitPrice: string;
}

/** Whom the partner asks about an order; personal data. */
export interface OrderContact {
  name: string;
  email?: string;
  phone?: string;
}

/** We ask a partner to deliver. */
export interface OrderRequest {
  orderNumber: string;
  /** RFC 3339, UTC. */
  issuedAt: string;
  currency: string;
  lines: OrderRequestLine[];
  contact?: OrderContact;
}

export const orderRequest: Contract<OrderRequest> = {
  name: 'order-request',
  version: 1,
  summary: 'We ask a partner to deliver.',
  direction: 'out',
  topic: 'orders.{partner}.request.v1',
  key: 'orderNumber',
  deadlineMs: 60 * 60 * 1000,
  resend: { times: 2, everyMs: 30 * 60 * 1000 },
  interimDeadlineMs: 24 * 60 * 60 * 1000,
  laterMessages: 'hold',
  jsonSchema,
  examples: [
    {
      orderNumber: '4500017',
      issuedAt: '2026-02-03T04:05:06.789Z',
      currency: 'EUR',
      lines: [{ lineNumber: 1, item: 'A-100', quantity: '12.5', unit: 'C62', unitPrice: '9.99' }],
    },
    {
      orderNumber: '4500018',
      issuedAt: '2026-02-03T04:05:06.789Z',
      currency: 'EUR',
      lines: [{ lineNumber: 1, item: 'A-100', quantity: '1', unit: 'C62', unitPrice: '9.99' }],
      contact: { name: 'Purchasing, Kim Doe', email: 'purchasing@parley.example', phone: '+49 30 5550100' },
    },
  ],
};
