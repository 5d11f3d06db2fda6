import type { Exchange } from '../../../src/messaging/exchanges';
import type { AwaitedExchange } from '../../../src/orders/domain/awaited';
import type { Order } from '../../../src/orders/domain/order';
import { type Messages, type OrderEvent, timelineOf } from '../../../src/orders/domain/timeline';

export const at = new Date('2026-02-03T04:05:06.789Z');
export const line = { lineNumber: 1, item: 'A', quantity: '1', unit: 'C62', unitPrice: '1' };
export const order: Order = {
  orderNumber: '4711',
  partner: 'acme',
  state: 'placed',
  version: 1,
  currency: 'EUR',
  lines: [line],
  contact: null,
  agreedLines: null,
  cancellation: null,
  overdue: null,
  deadline: new Date(at.getTime() + 3_600_000),
  createdAt: at,
  updatedAt: at,
};
export const placed: OrderEvent = {
  type: 'placed',
  at,
  messageId: 'm-1',
  correlationId: 'c-1',
  outboxSeq: '17',
  topic: 'orders.acme.request.v1',
  partition: 2,
  offset: null,
  detail: null,
};
export const response: OrderEvent = {
  ...placed,
  type: 'changed',
  messageId: 'm-2',
  outboxSeq: null,
  topic: 'orders.acme.response.v1',
  offset: '9007199254740993',
};
export const sentAt = new Date('2026-03-01T10:00:00.050Z');
export const inKafka = new Map([['17', { topic: 'orders.acme.request.v1', partition: 2, offset: '41', sentAt }]]);
/** The request of the order, open and in Kafka, its topic read up to its deadline. */
export const awaiting = (change: Partial<Exchange> = {}, facts: Partial<AwaitedExchange> = {}): AwaitedExchange => ({
  exchange: {
    correlationId: 'c-1',
    partner: 'acme',
    direction: 'out',
    kind: 'order-request',
    orderNumber: order.orderNumber,
    requestMessageId: 'm-1',
    requestSeq: '17',
    resentSeq: null,
    state: 'awaiting',
    deadline: order.deadline,
    resends: 0,
    openedAt: at,
    answerMessageId: null,
    answerCode: null,
    answeredAt: null,
    endedAt: null,
    endReason: null,
    ...change,
  },
  isPublished: true,
  hasParkedAnswer: false,
  readUpTo: order.deadline,
  ...facts,
});
const NOTHING: Messages = {
  places: new Map(),
  unpublished: new Map(),
  delays: new Map(),
  dropped: new Set(),
  parked: [],
  requests: [],
};
/** Nothing but what a case is about. */
export const story = (of: Order, events: readonly OrderEvent[], known: Partial<Messages>, now: Date) =>
  timelineOf(of, events, { ...NOTHING, ...known }, now);
export const names = (steps: { step: string }[]) => steps.map(({ step }) => step);
