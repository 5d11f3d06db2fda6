import type { Contract } from './contract';
import { orderCancellation } from './order-cancellation.v1';
import jsonSchema from './order-cancellation-response.v1.schema.json';

/** The subset of UN/CEFACT 4343 that answers a cancellation: cancelled, refused. */
export const CANCELLATION_CODES = ['AP', 'RE'] as const;
export type CancellationCode = (typeof CANCELLATION_CODES)[number];

/** The partner's answer to a cancellation: its word is what both sides go by. */
export interface OrderCancellationResponse {
  orderNumber: string;
  /** A {@link CancellationCode}, or one that a newer contract knows. */
  responseCode: string;
  /** RFC 3339, UTC. */
  issuedAt: string;
  /** In the partner's words, for people. */
  reason?: string;
}

export const orderCancellationResponse: Contract<OrderCancellationResponse> = {
  name: 'order-cancellation-response',
  version: 1,
  summary:
    "The partner's answer to a cancellation: AP nothing will be delivered, RE the order stands as it was. Who has despatched any of it refuses; who has agreed accepts and despatches nothing of it any more.",
  direction: 'in',
  topic: 'orders.{partner}.response.v1',
  key: 'orderNumber',
  answers: orderCancellation.name,
  laterMessages: 'hold',
  jsonSchema,
  examples: [
    { orderNumber: '4500017', responseCode: 'AP', issuedAt: '2026-02-03T05:01:00.000Z' },
    { orderNumber: '4500018', responseCode: 'RE', issuedAt: '2026-02-03T05:01:00.000Z', reason: 'already on its way' },
  ],
};
