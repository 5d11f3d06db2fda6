import type { ParkedMessage } from '../../../src/messaging/consumer';
import type { Order } from '../../../src/orders/domain/order';
import { type OrderEvent, timelineOf } from '../../../src/orders/domain/timeline';

const at = new Date('2026-02-03T04:05:06.789Z');
const line = { lineNumber: 1, item: 'A', quantity: '1', unit: 'C62', unitPrice: '1' };
const order: Order = {
  orderNumber: '4711',
  partner: 'acme',
  state: 'placed',
  version: 1,
  currency: 'EUR',
  lines: [line],
  agreedLines: null,
  cancellation: null,
  deadline: new Date(at.getTime() + 3_600_000),
  createdAt: at,
  updatedAt: at,
};
const placed: OrderEvent = {
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
const response: OrderEvent = {
  ...placed,
  type: 'changed',
  messageId: 'm-2',
  outboxSeq: null,
  topic: 'orders.acme.response.v1',
  offset: '9007199254740993',
};
const sentAt = new Date('2026-03-01T10:00:00.050Z');
const inKafka = new Map([['17', { topic: 'orders.acme.request.v1', partition: 2, offset: '41', sentAt }]]);
const names = (steps: { step: string }[]) => steps.map(({ step }) => step);

describe('the timeline of an order', () => {
  it('says that the order waits to be published, and for no answer yet', () => {
    const steps = timelineOf(order, [placed], new Map(), [], at);
    expect(names(steps)).toEqual(['placed', 'waiting-to-be-published']);
    expect(steps[1]).toMatchObject({ topic: 'orders.acme.request.v1', partition: 2, offset: null, messageId: 'm-1' });
  });

  it('shows the place in Kafka, and what is waited for with its deadline', () => {
    const steps = timelineOf(order, [placed], inKafka, [], at);
    expect(names(steps)).toEqual(['placed', 'published', 'waiting-for-answer']);
    expect(steps[1]).toMatchObject({ at: sentAt, topic: 'orders.acme.request.v1', partition: 2, offset: '41' });
    expect(steps[2]?.text).toContain('2026-02-03T05:05:06.789Z');
  });

  it('shows what of the partner could not be applied, why, and what waits behind it', () => {
    const dead: ParkedMessage = {
      state: 'dead',
      code: 'line-unknown',
      detail: 'The order has no line 9.',
      type: 'parley.order-response.v1',
      messageId: 'm-9',
      correlationId: 'c-1',
      topic: 'orders.acme.response.v1',
      partition: 2,
      offset: '5',
      parkedAt: sentAt,
    };
    const held: ParkedMessage = { ...dead, state: 'held', code: null, detail: null, messageId: null };
    const waits: ParkedMessage = { ...dead, state: 'waiting', code: 'handler-failed' };
    const steps = timelineOf(order, [placed], inKafka, [dead, held, waits], at);
    expect(names(steps).slice(2)).toEqual(['answer-refused', 'answer-held', 'answer-waits', 'waiting-for-answer']);
    expect(steps[2]).toMatchObject({ at: sentAt, messageId: 'm-9', topic: 'orders.acme.response.v1', offset: '5' });
    expect(steps[2]?.text).toContain('The order has no line 9. (line-unknown)');
  });

  it('calls a missing answer overdue after its deadline', () => {
    expect(names(timelineOf(order, [placed], inKafka, [], new Date(order.deadline.getTime() + 1)))).toContain(
      'answer-overdue',
    );
  });

  it('tells a final answer with its reason, lateness and place, and waits for nothing more', () => {
    const late = { ...response, detail: { reason: 'out of stock', late: true as const, lines: [line] } };
    const steps = timelineOf({ ...order, state: 'changed' }, [placed, late], inKafka, [], at);
    expect(names(steps)).toEqual(['placed', 'published', 'changed']);
    expect(steps[2]).toMatchObject({
      text: 'acme accepted the order with changes (1 line), after the deadline: out of stock',
      topic: 'orders.acme.response.v1',
      offset: '9007199254740993',
      messageId: 'm-2',
    });
  });
});
