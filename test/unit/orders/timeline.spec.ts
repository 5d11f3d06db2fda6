import type { ParkedMessage } from '../../../src/messaging/consumer';
import type { Cancellation, Order } from '../../../src/orders/domain/order';
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

  describe('with a cancellation', () => {
    const due = '2026-02-03T06:00:00.000Z';
    const asked: OrderEvent = {
      ...placed,
      type: 'cancellation-requested',
      messageId: 'm-3',
      correlationId: 'c-2',
      outboxSeq: '18',
      detail: { reason: 'ordered twice', due },
    };
    const requested: Cancellation = {
      state: 'requested',
      correlationId: 'c-2',
      reason: 'ordered twice',
      requestedAt: at.toISOString(),
      answeredAt: null,
      answerReason: null,
    };
    const accepted: Order = { ...order, state: 'accepted', cancellation: requested };
    const place = { topic: 'orders.acme.request.v1', partition: 2, sentAt };
    const both = new Map([
      ['17', { ...place, offset: '41' }],
      ['18', { ...place, offset: '42' }],
    ]);
    const answer = (type: OrderEvent['type'], detail: OrderEvent['detail'] = null): OrderEvent => ({
      ...response,
      type,
      detail,
    });
    const last = (event: OrderEvent, state: Order['state'] = 'accepted') =>
      timelineOf({ ...order, state }, [placed, asked, event], both, [], at).at(-1);

    it('shows the place of each message of ours, and what each waits for', () => {
      const steps = timelineOf({ ...accepted, state: 'placed' }, [placed, asked], both, [], at);
      expect(steps.map(({ step, text, offset }) => [step, text, offset])).toEqual([
        ['placed', 'Order placed with acme: 1 line, EUR.', null],
        ['published', 'The order is in Kafka.', '41'],
        ['cancellation-requested', 'acme is asked to cancel the order: ordered twice', null],
        ['published', 'The cancellation is in Kafka.', '42'],
        ['waiting-for-answer', "Waiting for acme's final answer, due 2026-02-03T05:05:06.789Z.", null],
        ['waiting-for-answer', `Waiting for acme's answer to the cancellation, due ${due}.`, null],
      ]);
    });

    it('waits for no answer to a cancellation that is not published yet', () => {
      const steps = timelineOf(accepted, [placed, asked], inKafka, [], at);
      expect(steps.at(-1)).toMatchObject({
        step: 'waiting-to-be-published',
        text: 'The cancellation waits to be published.',
      });
    });

    it('calls the missing answer overdue after its own deadline, not that of the order', () => {
      const later = new Date('2026-02-03T06:00:00.001Z');
      const soon = new Date(later.getTime() - 1);
      const at = (now: Date) => timelineOf(accepted, [placed, asked], both, [], now).at(-1);
      expect(at(soon)).toMatchObject({ step: 'waiting-for-answer', correlationId: 'c-2' });
      expect(at(later)).toMatchObject({
        step: 'answer-overdue',
        text: `acme's answer to the cancellation was due ${due}.`,
      });
    });

    it('waits for the last one that was asked for only', () => {
      const again: OrderEvent = { ...asked, correlationId: 'c-3', messageId: 'm-4', outboxSeq: '19' };
      const now: Order = { ...accepted, cancellation: { ...requested, correlationId: 'c-3' } };
      const places = new Map([...both, ['19', { ...place, offset: '43' }] as const]);
      const refused = answer('cancellation-refused', { reason: 'already packed' });
      const steps = timelineOf(now, [placed, asked, refused, again], places, [], at);
      expect(steps.filter(({ step }) => step === 'waiting-for-answer')).toMatchObject([{ correlationId: 'c-3' }]);
    });

    it.each<[OrderEvent['type'], OrderEvent['detail'], string]>([
      ['cancelled', { reason: 'fine' }, 'acme cancelled the order, as it was asked to: fine'],
      ['cancelled', { late: true }, 'acme cancelled the order, as it was asked to, after the deadline.'],
      ['cancellation-refused', { reason: 'packed' }, 'acme refused to cancel the order: packed'],
      ['cancellation-agreed', null, 'acme agreed to cancel the order, which it had rejected before.'],
      [
        'answer-noted',
        { code: 'RE' },
        'acme answered the order after it had cancelled it, which changes nothing (RE).',
      ],
    ])('tells %s with %j', (type, detail, text) => {
      expect(last(answer(type, detail))).toMatchObject({ step: type, text, offset: response.offset });
    });
  });

  it("shows the place of the answer that we gave to a partner's message", () => {
    const reply = { messageId: 'r-1', seq: '30', topic: 'shipments.acme.response.v1', partition: 1 };
    const despatched: OrderEvent = { ...response, type: 'partly-shipped', detail: { documentNumber: 'D-900', reply } };
    const shipped: Order = { ...order, state: 'partly-shipped' };
    const waiting = timelineOf(shipped, [placed, despatched], inKafka, [], at);
    expect(names(waiting)).toEqual(['placed', 'published', 'partly-shipped', 'waiting-to-be-published']);
    const { topic, partition } = reply;
    const places = new Map([...inKafka, ['30', { topic, partition, offset: '7', sentAt }] as const]);
    expect(timelineOf(shipped, [placed, despatched], places, [], at).at(-1)).toEqual({
      at: sentAt,
      step: 'published',
      text: 'Our answer is in Kafka.',
      messageId: 'r-1',
      correlationId: despatched.correlationId,
      topic,
      partition,
      offset: '7',
    });
  });
});
