import type { Contract } from './contract';
import { orderRequest } from './order-request.v1';
import jsonSchema from './order-response.v1.schema.json';

/** UN/CEFACT 4343 subset as in Peppol BIS Ordering: acknowledged (interim), accepted, rejected, accepted with change. */
export const RESPONSE_CODES = ['AB', 'AP', 'RE', 'CA'] as const;
export type ResponseCode = (typeof RESPONSE_CODES)[number];

export interface OrderResponseLine {
  /** A line of the order. */
  lineNumber: number;
  /** What the partner will deliver; decimal string, `0` strikes the line. */
  quantity: string;
  /** Decimal string per unit. */
  unitPrice: string;
}

/** The partner's answer to an order. */
export interface OrderResponse {
  orderNumber: string;
  /** A {@link ResponseCode}, or one that a newer contract knows. */
  responseCode: string;
  /** RFC 3339, UTC. */
  issuedAt: string;
  /** In the partner's words, for people. */
  reason?: string;
  /** Only with `CA`, and then required: the lines that change. */
  lines?: OrderResponseLine[];
}

export const orderResponse: Contract<OrderResponse> = {
  name: 'order-response',
  version: 1,
  summary:
    "The partner's answer to an order: AP accepted, RE rejected or CA accepted with changes, once and for good; before it AB, acknowledged, where that takes time.",
  direction: 'in',
  topic: 'orders.{partner}.response.v1',
  key: 'orderNumber',
  answers: orderRequest.name,
  laterMessages: 'hold',
  jsonSchema,
  examples: [
    { orderNumber: '4500017', responseCode: 'AP', issuedAt: '2026-02-03T04:06:00.000Z' },
    {
      orderNumber: '4500018',
      responseCode: 'CA',
      issuedAt: '2026-02-03T04:06:00.000Z',
      reason: 'only ten left',
      lines: [{ lineNumber: 1, quantity: '10', unitPrice: '9.99' }],
    },
  ],
};
