import { orderCancellation, orderCancellationResponse, orderRequest, orderResponse } from '../../../src/contracts';
import { type Order, OrderList } from '../../../src/orders';
import { OrderTimeline } from '../../../src/orders/order-timeline';
import { TestBatch } from '../consumer/harness';
import {
  anOrder,
  answerRecord,
  cancel,
  consumerOf,
  exchangesOf,
  type OrdersApp,
  place,
  send,
  startOrders,
} from './orders-app';

type Code = 'AB' | 'AP' | 'RE';

describe("partners' answers to cancellations", () => {
  let orders: OrdersApp;
  let consumer: Awaited<ReturnType<typeof consumerOf>>;

  beforeAll(async () => {
    orders = await startOrders();
    consumer = await consumerOf(orders);
  });
  afterAll(async () => {
    await consumer.close();
    await orders.close();
  });

  interface Asked {
    orderNumber: string;
    /** Correlation ids of the order and of its cancellation. */
    order: string;
    cancellation: string;
  }

  /** An order that the partner is asked to cancel. */
  async function asked(partner = 'acme'): Promise<Asked> {
    const orderNumber = String((await place(orders, anOrder({ partner }))).json['orderNumber']);
    expect((await cancel(orders, orderNumber)).status).toBe(202);
    const [order = ''] = await exchangesOf(orders, orderNumber, orderRequest.name);
    const [cancellation = ''] = await exchangesOf(orders, orderNumber, orderCancellation.name);
    return { orderNumber, order, cancellation };
  }

  const response = ({ orderNumber, order }: Asked, responseCode: Code, partner = 'acme') =>
    answerRecord(partner, order, { orderNumber, responseCode }, orderResponse);
  const toCancellation = ({ orderNumber, cancellation }: Asked, responseCode: string, more: object = {}) =>
    answerRecord('acme', cancellation, { orderNumber, responseCode, ...more }, orderCancellationResponse);
  const hear = (...records: ReturnType<typeof response>[]) => consumer.process(new TestBatch(records));

  const show = async ({ orderNumber }: Asked) => (await send(orders, 'GET', `/v1/orders/${orderNumber}`)).json;
  const parked = ({ orderNumber }: Asked) =>
    orders.database.query<Record<string, unknown>>(
      'SELECT state, code, pointer, detail FROM parked_inbound WHERE key = :orderNumber ORDER BY id',
      { orderNumber },
    );
  const exchange = async (correlationId: string) => {
    const [row] = await orders.database.query<Record<string, unknown>>(
      'SELECT state, answer_code AS code FROM exchange WHERE correlation_id = :correlationId',
      { correlationId },
    );
    return row;
  };
  const story = async ({ orderNumber }: Asked) =>
    (await send(orders, 'GET', `/v1/orders/${orderNumber}/timeline`)).json['steps'] as Record<string, unknown>[];

  it('cancel the order with AP, and end the exchange of the order that nobody will answer', async () => {
    const one = await asked();
    await hear(toCancellation(one, 'AP', { reason: 'no problem' }));
    expect(await show(one)).toMatchObject({
      state: 'cancelled',
      version: 3,
      cancellation: {
        state: 'agreed',
        reason: 'ordered twice',
        answeredAt: expect.stringMatching(/Z$/) as string,
        answerReason: 'no problem',
      },
    });
    expect(await exchange(one.cancellation)).toEqual({ state: 'answered', code: 'AP' });
    expect(await exchange(one.order)).toEqual({ state: 'withdrawn', code: null });
  });

  it('leave the order as it was with RE, so that its own answer still counts', async () => {
    const one = await asked();
    await hear(toCancellation(one, 'RE', { reason: 'already packed' }));
    expect(await show(one)).toMatchObject({
      state: 'placed',
      cancellation: { state: 'refused', answerReason: 'already packed' },
    });
    expect(await exchange(one.order)).toMatchObject({ state: 'awaiting' });
    await hear(response(one, 'AP'));
    expect(await show(one)).toMatchObject({ state: 'accepted', version: 4, cancellation: { state: 'refused' } });
  });

  it('keep their order with answers to the order that come in the same batch', async () => {
    const [one, two, three] = [await asked(), await asked(), await asked()];
    await hear(
      response(one, 'AP'),
      toCancellation(two, 'RE'),
      toCancellation(one, 'AP'),
      response(two, 'AP'),
      response(three, 'AB'),
      toCancellation(three, 'AP'),
      response(three, 'RE'),
    );
    expect(await show(one)).toMatchObject({ state: 'cancelled', version: 4 });
    expect(await exchange(one.order)).toEqual({ state: 'answered', code: 'AP' });
    expect(await parked(one)).toEqual([]);
    expect(await show(two)).toMatchObject({ state: 'accepted', version: 4, cancellation: { state: 'refused' } });
    expect(await show(three)).toMatchObject({ state: 'cancelled', version: 5 });
    expect(await parked(three)).toEqual([]);
    expect(await exchange(three.order)).toEqual({ state: 'withdrawn', code: 'AB' });
  });

  it('hold, and are held behind, what of the same order can never be applied', async () => {
    const [one, two] = [await asked(), await asked()];
    await hear(
      toCancellation(one, 'AP'),
      response(two, 'RE'),
      response(one, 'AP'),
      response(two, 'AP'),
      toCancellation(two, 'RE'),
      toCancellation(one, 'RE'),
    );
    expect(await show(one)).toMatchObject({ state: 'cancelled', version: 3 });
    expect(await parked(one)).toMatchObject([{ state: 'dead', code: 'illegal-transition' }, { state: 'held' }]);
    expect(await show(two)).toMatchObject({ state: 'rejected', cancellation: { state: 'requested' } });
    expect(await parked(two)).toMatchObject([{ state: 'dead', code: 'illegal-transition' }, { state: 'held' }]);
  });

  it('only close the cancellation of an order that was rejected meanwhile', async () => {
    const [one, two] = [await asked(), await asked()];
    await hear(response(one, 'RE'), response(two, 'RE'), toCancellation(one, 'AP'), toCancellation(two, 'RE'));
    expect(await show(one)).toMatchObject({ state: 'rejected', version: 4, cancellation: { state: 'agreed' } });
    expect(await show(two)).toMatchObject({ state: 'rejected', version: 4, cancellation: { state: 'refused' } });
    expect(await exchange(one.order)).toEqual({ state: 'answered', code: 'RE' });
  });

  it('are dead when they agree to cancel what was despatched', async () => {
    const one = await asked();
    await orders.database.transaction((tx) =>
      tx.query(`UPDATE orders SET state = 'partly-shipped' WHERE order_number = $1`, [one.orderNumber]),
    );
    await hear(toCancellation(one, 'AP'));
    expect(await show(one)).toMatchObject({ state: 'partly-shipped', cancellation: { state: 'requested' } });
    expect(await parked(one)).toMatchObject([{ state: 'dead', code: 'illegal-transition' }]);
  });

  it('are dead, with a pointer, when their code is not known here', async () => {
    const one = await asked();
    await hear(toCancellation(one, 'AB'));
    expect(await parked(one)).toMatchObject([
      { state: 'dead', code: 'response-code-unknown', pointer: '/responseCode' },
    ]);
  });

  it('are dead when they come a second time under another id, and change nothing', async () => {
    const one = await asked();
    await hear(toCancellation(one, 'RE'));
    await hear(toCancellation(one, 'AP'));
    expect(await show(one)).toMatchObject({ state: 'placed', version: 3, cancellation: { state: 'refused' } });
    expect(await parked(one)).toMatchObject([{ state: 'dead', code: 'illegal-transition' }]);
  });

  it('answer the cancellation that waits, not the one before', async () => {
    const one = await asked();
    await hear(toCancellation(one, 'RE'));
    await cancel(orders, one.orderNumber, { reason: 'please' });
    const [, second = ''] = await exchangesOf(orders, one.orderNumber, orderCancellation.name);
    await hear(toCancellation({ ...one, cancellation: second }, 'AP'));
    expect(await show(one)).toMatchObject({ state: 'cancelled', cancellation: { state: 'agreed', reason: 'please' } });
    expect(await exchange(one.cancellation)).toEqual({ state: 'answered', code: 'RE' });
    expect(await exchange(second)).toEqual({ state: 'answered', code: 'AP' });
  });

  it('are dead on the exchange of the order, as answers to the order are on that of the cancellation', async () => {
    const [one, two] = [await asked(), await asked()];
    await hear(
      toCancellation({ ...one, cancellation: one.order }, 'AP'),
      response({ ...two, order: two.cancellation }, 'AP'),
    );
    for (const each of [one, two]) {
      expect(await parked(each)).toMatchObject([{ state: 'dead', code: 'exchange-mismatch' }]);
      expect(await show(each)).toMatchObject({ state: 'placed', version: 2, cancellation: { state: 'requested' } });
      expect(await exchange(each.order)).toEqual({ state: 'awaiting', code: null });
      expect(await exchange(each.cancellation)).toEqual({ state: 'awaiting', code: null });
    }
  });

  it("never touch another order or another partner's, whatever correlation id they name", async () => {
    const [one, other, foreign] = [await asked(), await asked(), await asked('umbra')];
    await hear(toCancellation({ ...one, cancellation: other.cancellation }, 'AP'));
    await hear(toCancellation({ ...other, cancellation: foreign.cancellation }, 'AP'));
    await hear(toCancellation(foreign, 'AP'));
    expect(await parked(one)).toMatchObject([{ code: 'exchange-mismatch', pointer: '/orderNumber' }]);
    expect(await parked(other)).toMatchObject([{ code: 'exchange-foreign' }]);
    expect(await parked(foreign)).toMatchObject([{ code: 'exchange-foreign' }]);
    for (const each of [one, other, foreign]) expect(await show(each)).toMatchObject({ state: 'placed', version: 2 });
  });

  it('are told in the timeline with the place of every message', async () => {
    const one = await asked();
    const names = async () => (await story(one)).map(({ step }) => step);
    const waiting = 'waiting-to-be-published';
    expect(await names()).toEqual(['placed', waiting, 'cancellation-requested', waiting]);
    await orders.database.transaction((tx) =>
      tx.query(
        `INSERT INTO outbox_receipt (topic, partition, base_offset, first_seq, last_seq, seqs)
         SELECT topic, partition, 40 + seq, seq, seq, ARRAY[seq] FROM outbox_message WHERE aggregateid = $1`,
        [one.orderNumber],
      ),
    );
    const before = await story(one);
    expect(before).toMatchObject([
      { step: 'placed' },
      { step: 'published', text: 'The order is in Kafka.' },
      { step: 'cancellation-requested', text: 'acme is asked to cancel the order: ordered twice' },
      { step: 'published', text: 'The cancellation is in Kafka.', correlationId: one.cancellation },
      { step: 'waiting-for-answer', correlationId: one.order },
      { step: 'waiting-for-answer', correlationId: one.cancellation },
    ]);
    expect(before.at(-1)?.['text']).toMatch(
      /^Waiting for acme's answer to the cancellation, due in 60 min \(20.*Z\)\.$/,
    );
    const record = toCancellation(one, 'AP', { reason: 'fine\0' });
    await hear(record, response(one, 'RE'));
    expect((await story(one)).slice(4)).toMatchObject([
      {
        step: 'cancelled',
        text: 'acme cancelled the order, as it was asked to: fine\ufffd',
        topic: 'orders.acme.response.v1',
        offset: String(record.offset),
      },
      { step: 'answer-noted', text: 'acme answered the order after it had cancelled it, which changes nothing (RE).' },
    ]);
  });

  it('are no part of a story that was asked for before, whose end would contradict its beginning', async () => {
    const one = await asked();
    const before = await orders.app.get(OrderList).find(one.orderNumber);
    await hear(toCancellation(one, 'AP'));
    const steps = await orders.app.get(OrderTimeline).of(before as Order, { partners: null });
    const waiting = 'waiting-to-be-published';
    expect(steps.map(({ step }) => step)).toEqual(['placed', waiting, 'cancellation-requested', waiting]);
  });

  it('take the order out of what is overdue', async () => {
    const one = await asked();
    await orders.database.transaction((tx) =>
      tx.query(
        `UPDATE orders o SET overdue = (SELECT jsonb_agg(jsonb_build_object('correlationId', correlation_id, 'since', '2026-03-01T00:00:00.000Z'))
         FROM exchange e WHERE e.order_number = o.order_number) WHERE order_number = $1`,
        [one.orderNumber],
      ),
    );
    const list = async (query: string) =>
      ((await send(orders, 'GET', `/v1/orders?limit=200&${query}`)).json['items'] as { orderNumber: string }[])
        .map(({ orderNumber }) => orderNumber)
        .includes(one.orderNumber);
    expect([await list('overdue=true'), await list('overdue=false')]).toEqual([true, false]);
    await hear(toCancellation(one, 'AP'));
    expect([await list('overdue=true'), await list('overdue=false')]).toEqual([false, true]);
    expect([await list('state=cancelled'), await list('state=placed')]).toEqual([true, false]);
  });
});
