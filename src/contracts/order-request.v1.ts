import {
  CURRENCY_PATTERN,
  DECIMAL_PATTERN,
  MAX_LINES,
  ORDER_NUMBER_PATTERN,
  POSITIVE_DECIMAL_PATTERN,
} from './decimal';
import type { Contract } from './contract';

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

/** We ask a partner to deliver. */
export interface OrderRequest {
  orderNumber: string;
  /** RFC 3339, UTC. */
  issuedAt: string;
  currency: string;
  lines: OrderRequestLine[];
}

export const orderRequest: Contract<OrderRequest> = {
  name: 'order-request',
  version: 1,
  direction: 'out',
  topic: 'orders.{partner}.request.v1',
  key: 'orderNumber',
  deadlineMs: 60 * 60 * 1000,
  laterMessages: 'hold',
  jsonSchema: {
    type: 'object',
    required: ['orderNumber', 'issuedAt', 'currency', 'lines'],
    properties: {
      orderNumber: { type: 'string', pattern: ORDER_NUMBER_PATTERN },
      issuedAt: { type: 'string', maxLength: 40 },
      currency: { type: 'string', pattern: CURRENCY_PATTERN },
      lines: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_LINES,
        items: {
          type: 'object',
          required: ['lineNumber', 'item', 'quantity', 'unit', 'unitPrice'],
          properties: {
            lineNumber: { type: 'integer', minimum: 1, maximum: 2147483647 },
            item: { type: 'string', minLength: 1, maxLength: 64 },
            quantity: { type: 'string', pattern: POSITIVE_DECIMAL_PATTERN },
            unit: { type: 'string', minLength: 1, maxLength: 3 },
            unitPrice: { type: 'string', pattern: DECIMAL_PATTERN },
          },
        },
      },
    },
  },
};
