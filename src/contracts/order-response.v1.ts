import { DECIMAL_PATTERN, MAX_LINES, ORDER_NUMBER_PATTERN } from './decimal';
import type { Contract } from './contract';

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
  responseCode: ResponseCode;
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
  direction: 'in',
  topic: 'orders.{partner}.response.v1',
  key: 'orderNumber',
  laterMessages: 'hold',
  jsonSchema: {
    type: 'object',
    required: ['orderNumber', 'responseCode', 'issuedAt'],
    properties: {
      orderNumber: { type: 'string', pattern: ORDER_NUMBER_PATTERN },
      responseCode: { type: 'string', enum: [...RESPONSE_CODES] },
      issuedAt: { type: 'string', maxLength: 40 },
      reason: { type: 'string', maxLength: 2000 },
      lines: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_LINES,
        items: {
          type: 'object',
          required: ['lineNumber', 'quantity', 'unitPrice'],
          properties: {
            lineNumber: { type: 'integer', minimum: 1, maximum: 2147483647 },
            quantity: { type: 'string', pattern: DECIMAL_PATTERN },
            unitPrice: { type: 'string', pattern: DECIMAL_PATTERN },
          },
        },
      },
    },
    if: { properties: { responseCode: { const: 'CA' } } },
    then: { required: ['lines'] },
    else: { properties: { lines: false } },
  },
};
