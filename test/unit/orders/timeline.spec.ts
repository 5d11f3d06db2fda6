import type { ParkedMessage } from '../../../src/messaging/consumer';
import type { Exchange } from '../../../src/messaging/exchanges';
import type { AwaitedExchange } from '../../../src/orders/domain/awaited';
import type { Cancellation, Order } from '../../../src/orders/domain/order';
import type { OrderEvent } from '../../../src/orders/domain/timeline';
import { at, awaiting, inKafka, line, names, order, placed, response, sentAt, story } from './timeline-story';

describe('the timeline of an order', () => {
  it('says that the order waits to be published, and for no answer yet', () => {
    const steps = story(order, [placed], { requests: [awaiting({}, { isPublished: false })] }, at);
    expect(names(steps)).toEqual(['placed', 'waiting-to-be-published']);
    expect(steps[1]).toMatchObject({ topic: 'orders.acme.request.v1', partition: 2, offset: null, messageId: 'm-1' });
  });

  it('shows the place in Kafka, and what is waited for with its deadline', () => {
    const steps = story(order, [placed], { places: inKafka, requests: [awaiting()] }, at);
    expect(names(steps)).toEqual(['placed', 'published', 'waiting-for-answer']);
    expect(steps[1]).toMatchObject({ at: sentAt, topic: 'orders.acme.request.v1', partition: 2, offset: '41' });
    expect(steps[2]?.text).toBe("Waiting for acme's final answer, due in 60 min (2026-02-03T05:05:06.789Z).");
  });

  it('shows what of the partner could not be applied, why, and what waits behind it', () => {
    const dead: ParkedMessage = {
      id: '4711',
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
      attempts: 1,
      nextAttemptAt: null,
    };
    const held: ParkedMessage = { ...dead, state: 'held', code: null, detail: null, messageId: null };
    const nextAttemptAt = new Date(at.getTime() + 120_000);
    const waits: ParkedMessage = { ...dead, state: 'waiting', code: 'handler-failed', attempts: 3, nextAttemptAt };
    const steps = story(order, [placed], { places: inKafka, parked: [dead, held, waits], requests: [awaiting()] }, at);
    // A replay has let it go, and nobody has tried it since: what it failed of is of the past.
    const released = story(
      order,
      [placed],
      { places: inKafka, parked: [{ ...waits, attempts: 0, nextAttemptAt: at }] },
      at,
    );
    expect(released.at(-1)).toMatchObject({ text: 'A message of acme is tried as soon as it is its turn.' });
    expect(names(steps).slice(2)).toEqual(['answer-refused', 'answer-held', 'answer-waits', 'waiting-for-answer']);
    expect(steps[2]).toMatchObject({ at: sentAt, messageId: 'm-9', topic: 'orders.acme.response.v1', offset: '5' });
    expect(steps.slice(2, 5).map(({ text }) => text)).toEqual([
      "A message of acme can't be applied and is kept as dead letter 4711: The order has no line 9. (line-unknown).",
      'A message of acme waits behind an earlier one of this order.',
      'A message of acme could not be applied yet, tried 3 times, next in 2 min: The order has no line 9. (handler-failed).',
    ]);
  });

  describe('past a deadline', () => {
    const later = new Date(order.deadline.getTime() + 12 * 60_000);
    const said = (request: AwaitedExchange) =>
      story(order, [placed], { places: inKafka, requests: [request] }, later).at(-1);

    it.each<[string, Partial<AwaitedExchange>]>([
      ['the request is not published yet', { isPublished: false }],
      ['a message of acme that answers it is parked', { hasParkedAnswer: true }],
      ['nobody has said yet how far the answer topic has been read', { readUpTo: null }],
      [
        'the answer topic has only been read up to 2026-02-03T05:05:06.788Z',
        { readUpTo: new Date(order.deadline.getTime() - 1) },
      ],
      ['it is next to be looked at', {}],
    ])('says what is missing before it is judged: %s', (missing, facts) => {
      expect(said(awaiting({}, facts))).toMatchObject({
        at: null,
        step: 'answer-due',
        text: `acme's final answer was due 12 min ago (2026-02-03T05:05:06.789Z), which is not judged yet: ${missing}.`,
      });
    });

    it('calls overdue what the ledger calls so, and nothing else', () => {
      expect(said(awaiting({ state: 'overdue', endReason: 'no answer, though sent 3 times' }))).toMatchObject({
        step: 'answer-overdue',
        text: "acme's final answer is overdue since 12 min (2026-02-03T05:05:06.789Z): no answer, though sent 3 times.",
      });
    });

    it.each<Exchange['state']>(['answered', 'answered-late', 'withdrawn'])(
      'waits for nothing once it is %s',
      (state) => {
        expect(said(awaiting({ state }))).toMatchObject({ step: 'published' });
      },
    );

    it('tells what was sent again, and where that is in Kafka', () => {
      const due = new Date(later.getTime() + 30 * 60_000).toISOString();
      const again: OrderEvent = {
        ...placed,
        type: 'sent-again',
        at: later,
        outboxSeq: '44',
        detail: { resend: { times: 2, of: 3 }, due },
      };
      const places = new Map([
        ...inKafka,
        ['44', { topic: 'orders.acme.request.v1', partition: 2, offset: '99', sentAt: later }] as const,
      ]);
      expect(story(order, [placed, again], { places }, later).slice(2)).toMatchObject([
        {
          step: 'sent-again',
          messageId: 'm-1',
          text: 'acme had not answered in time: sent again (2 of 3) under the same id, due in 30 min.',
        },
        { step: 'published', messageId: 'm-1', offset: '99', text: 'The message that was sent again is in Kafka.' },
      ]);
    });

    it.each<[OrderEvent['type'], OrderEvent['detail'], string]>([
      ['overdue', { reason: 'no answer in time' }, "acme's answer is overdue: no answer in time."],
      [
        'withdrawn',
        { reason: 'settled by telephone', by: 'Ada' },
        "Ada stopped waiting for acme's answer: settled by telephone",
      ],
      ['accepted', { unawaited: true }, 'acme accepted the order, though nobody waited for it any more.'],
    ])('tells %s with %j', (type, detail, text) => {
      const event: OrderEvent = { ...placed, type, outboxSeq: null, topic: null, partition: null, detail };
      expect(story(order, [event], { places: inKafka }, later)).toMatchObject([
        { step: type, text, topic: null, offset: null },
      ]);
    });
  });

  it('tells a final answer with its reason, lateness and place, and waits for nothing more', () => {
    const late = { ...response, detail: { reason: 'out of stock', late: true as const, lines: [line] } };
    const steps = story({ ...order, state: 'changed' }, [placed, late], { places: inKafka }, at);
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
    const cancellation = (change: Partial<Exchange> = {}, facts: Partial<AwaitedExchange> = {}) =>
      awaiting(
        {
          kind: 'order-cancellation',
          correlationId: 'c-2',
          requestMessageId: 'm-3',
          deadline: new Date(due),
          ...change,
        },
        facts,
      );
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
      story({ ...order, state }, [placed, asked, event], { places: both }, at).at(-1);

    it('shows the place of each message of ours, and what each waits for', () => {
      const requests = [awaiting(), cancellation()];
      const steps = story({ ...accepted, state: 'placed' }, [placed, asked], { places: both, requests }, at);
      expect(steps.map(({ step, text, offset }) => [step, text, offset])).toEqual([
        ['placed', 'Order placed with acme: 1 line, EUR.', null],
        ['published', 'The order is in Kafka.', '41'],
        ['cancellation-requested', 'acme is asked to cancel the order: ordered twice', null],
        ['published', 'The cancellation is in Kafka.', '42'],
        ['waiting-for-answer', "Waiting for acme's final answer, due in 60 min (2026-02-03T05:05:06.789Z).", null],
        ['waiting-for-answer', `Waiting for acme's answer to the cancellation, due in 115 min (${due}).`, null],
      ]);
    });

    it('waits for no answer to a cancellation that is not published yet', () => {
      const steps = story(
        accepted,
        [placed, asked],
        { places: inKafka, requests: [cancellation({}, { isPublished: false })] },
        at,
      );
      expect(steps.at(-1)).toMatchObject({
        step: 'waiting-to-be-published',
        text: 'The cancellation waits to be published.',
      });
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
    const waiting = story(shipped, [placed, despatched], { places: inKafka }, at);
    expect(names(waiting)).toEqual(['placed', 'published', 'partly-shipped', 'waiting-to-be-published']);
    const { topic, partition } = reply;
    const places = new Map([...inKafka, ['30', { topic, partition, offset: '7', sentAt }] as const]);
    expect(story(shipped, [placed, despatched], { places }, at).at(-1)).toEqual({
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

  describe('of a partner that is stopped', () => {
    const since = new Date('2026-03-01T09:00:00Z');
    const standing = {
      state: 'suspended',
      stateSince: since,
      words: 'acme is suspended: it was broken into.',
    } as const;
    const late = awaiting({ deadline: at });

    it('says so before what is waited for, and that no deadline is judged', () => {
      const told = story(order, [placed], { places: inKafka, requests: [late], standing }, sentAt);
      expect(names(told)).toEqual(['placed', 'published', 'partner-suspended', 'answer-due']);
      expect(told[2]).toMatchObject({ at: since, text: expect.stringContaining(standing.words) as string });
      expect(told[3]?.text).toMatch(/which is not judged yet: acme is suspended\.$/);
    });

    it('says nothing of it where nothing waits', () => {
      const answered = awaiting({ state: 'answered' });
      const told = story(order, [placed], { places: inKafka, requests: [answered], standing }, sentAt);
      expect(names(told)).toEqual(['placed', 'published']);
    });
  });
});
