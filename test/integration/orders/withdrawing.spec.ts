import { orderCancellationResponse } from '../../../src/contracts';
import { giveKey } from '../../support/staff';
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

describe('staff who stop waiting for an answer', () => {
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

  async function placed(): Promise<{ orderNumber: string; request: string }> {
    const { orderNumber } = (await place(orders, anOrder())).json as { orderNumber: string };
    const [request = ''] = await exchangesOf(orders, orderNumber, 'order-request');
    return { orderNumber, request };
  }
  const withdraw = (
    orderNumber: string,
    id: string,
    body: unknown = { reason: 'settled by telephone' },
    key = orders.key,
  ) => send({ app: orders.app, key }, 'POST', `/v1/orders/${orderNumber}/exchanges/${id}/withdrawal`, body);
  const show = async (orderNumber: string) => (await send(orders, 'GET', `/v1/orders/${orderNumber}`)).json;
  const list = async (orderNumber: string) =>
    (await send(orders, 'GET', `/v1/orders/${orderNumber}/exchanges`)).json['items'] as Record<string, unknown>[];
  const story = async (orderNumber: string) =>
    (await send(orders, 'GET', `/v1/orders/${orderNumber}/timeline`)).json['steps'] as Record<string, unknown>[];
  const hear = (orderNumber: string, id: string, responseCode: string, contract?: typeof orderCancellationResponse) =>
    consumer.process(new TestBatch([answerRecord('acme', id, { orderNumber, responseCode }, contract)]));
  const markOverdue = (orderNumber: string, id: string) =>
    orders.database.transaction(async (tx) => {
      await tx.query(`UPDATE exchange SET state = 'overdue' WHERE correlation_id = $1`, [id]);
      await tx.query(
        `UPDATE orders SET overdue = jsonb_build_array(jsonb_build_object('correlationId', $1::text, 'since', '2026-03-01T00:00:00.000Z')) WHERE order_number = $2`,
        [id, orderNumber],
      );
    });

  it('end the exchange with their reason; the order is not overdue any more, and the story tells it', async () => {
    const { orderNumber, request } = await placed();
    await markOverdue(orderNumber, request);
    const answer = await withdraw(orderNumber, request);
    expect(answer).toMatchObject({
      status: 200,
      json: { correlationId: request, state: 'withdrawn', endReason: 'settled by telephone', waitsFor: null },
    });
    expect(answer.json['endedAt']).toEqual(expect.any(String));
    expect(await show(orderNumber)).toMatchObject({ state: 'placed', version: 2, overdueSince: null });
    expect((await story(orderNumber)).at(-1)).toMatchObject({
      step: 'withdrawn',
      text: "test stopped waiting for acme's answer: settled by telephone",
      topic: null,
    });
  });

  it('are told the same again, and are written down once', async () => {
    const { orderNumber, request } = await placed();
    const first = await withdraw(orderNumber, request);
    const again = await withdraw(orderNumber, request, { reason: 'another reason' });
    expect([again.status, again.json]).toEqual([200, first.json]);
    expect(await show(orderNumber)).toMatchObject({ version: 2 });
    const audited = await orders.database.query(
      'SELECT caller, action, object, partner, reason, detail FROM audit_entry WHERE object = :object',
      { object: `exchange/${request}` },
    );
    expect(audited).toEqual([
      {
        caller: orders.key.id,
        action: 'exchange.withdraw',
        object: `exchange/${request}`,
        partner: 'acme',
        reason: 'settled by telephone',
        detail: { orderNumber, kind: 'order-request', state: 'awaiting' },
      },
    ]);
  });

  it('are refused once the answer is there', async () => {
    const { orderNumber, request } = await placed();
    await hear(orderNumber, request, 'AP');
    expect(await withdraw(orderNumber, request)).toMatchObject({
      status: 409,
      json: { code: 'exchange-ended', detail: expect.stringContaining('AP') as string },
    });
    expect(await show(orderNumber)).toMatchObject({ state: 'accepted', version: 2 });
  });

  it.each(['AB', 'AP', 'RE', 'CA'])(
    'are not deaf: %s is applied as the order allows, and the exchange stays withdrawn',
    async (code) => {
      const { orderNumber, request } = await placed();
      await withdraw(orderNumber, request);
      const lines = [{ lineNumber: 1, quantity: '1', unitPrice: '1' }];
      const value = { orderNumber, responseCode: code, ...(code === 'CA' ? { lines } : {}) };
      await consumer.process(new TestBatch([answerRecord('acme', request, value)]));
      const state = { AB: 'acknowledged', AP: 'accepted', RE: 'rejected', CA: 'changed' }[code];
      expect(await show(orderNumber)).toMatchObject({ state, version: 3 });
      expect(await list(orderNumber)).toMatchObject([{ state: 'withdrawn', answerCode: code, waitsFor: null }]);
      expect((await story(orderNumber)).at(-1)?.['text']).toContain('though nobody waited for it any more');
    },
  );

  it('may ask for the cancellation anew that they stopped waiting for, and its late answer counts until then', async () => {
    const { orderNumber, request } = await placed();
    await cancel(orders, orderNumber);
    const [first = ''] = await exchangesOf(orders, orderNumber, 'order-cancellation');
    expect((await withdraw(orderNumber, first)).status).toBe(200);
    expect(await show(orderNumber)).toMatchObject({ cancellation: { state: 'withdrawn' } });
    expect((await cancel(orders, orderNumber)).status).toBe(202);
    expect(await show(orderNumber)).toMatchObject({ cancellation: { state: 'requested' } });
    const [, second = ''] = await exchangesOf(orders, orderNumber, 'order-cancellation');
    await withdraw(orderNumber, second);
    await hear(orderNumber, second, 'AP', orderCancellationResponse);
    expect(await show(orderNumber)).toMatchObject({ state: 'cancelled', cancellation: { state: 'agreed' } });
    expect((await list(orderNumber)).map(({ correlationId, state }) => [correlationId, state])).toEqual([
      [request, 'withdrawn'],
      [first, 'withdrawn'],
      [second, 'withdrawn'],
    ]);
  });

  it('find no exchange of another order, of another partner, or of no order at all', async () => {
    const [one, other] = [await placed(), await placed()];
    for (const [orderNumber, id] of [
      [one.orderNumber, other.request],
      [one.orderNumber, 'never-given'],
    ] as const) {
      expect(await withdraw(orderNumber, id)).toMatchObject({ status: 404, json: { code: 'exchange-unknown' } });
    }
    expect(await withdraw('none', one.request)).toMatchObject({ status: 404, json: { code: 'order-unknown' } });
    const key = await giveKey(orders.database, { role: 'support', partners: ['umbra'] });
    expect(await withdraw(one.orderNumber, one.request, undefined, key)).toMatchObject({
      status: 404,
      json: { code: 'order-unknown' },
    });
    expect(await list(one.orderNumber)).toMatchObject([{ state: 'awaiting' }]);
  });

  it('need a reason and the role support', async () => {
    const { orderNumber, request } = await placed();
    for (const body of [{}, { reason: ' ' }, { reason: 'two\nlines' }, { reason: 'x', more: 1 }])
      expect((await withdraw(orderNumber, request, body)).status).toBe(400);
    const viewer = await giveKey(orders.database, { role: 'viewer' });
    expect((await withdraw(orderNumber, request, undefined, viewer)).status).toBe(403);
    const support = await giveKey(orders.database, { role: 'support', areas: ['orders'], partners: ['acme'] });
    expect((await withdraw(orderNumber, request, undefined, support)).status).toBe(200);
  });

  it('see the exchanges of an order: states, deadlines, every sending and its place', async () => {
    const { orderNumber, request } = await placed();
    const [row] = await orders.database.query<{ id: string; seq: string; topic: string; partition: number }>(
      'SELECT id, seq, topic, partition FROM outbox_message WHERE aggregateid = :orderNumber',
      { orderNumber },
    );
    expect(await list(orderNumber)).toMatchObject([
      {
        correlationId: request,
        kind: 'order-request',
        direction: 'out',
        state: 'awaiting',
        resends: 0,
        sent: [{ messageId: row?.id, topic: row?.topic, partition: row?.partition, offset: null, sentAt: null }],
        answerCode: null,
      },
    ]);
    await orders.database.transaction((tx) =>
      tx.query(
        'INSERT INTO outbox_receipt (topic, partition, base_offset, first_seq, last_seq, seqs) VALUES ($1, $2, 9007199254740993, $3, $3, ARRAY[$3::bigint])',
        [row?.topic, row?.partition, row?.seq],
      ),
    );
    expect(await list(orderNumber)).toMatchObject([
      {
        sent: [{ offset: '9007199254740993', sentAt: expect.any(String) as string }],
        waitsFor: expect.stringContaining('due in 60 min') as string,
      },
    ]);
  });
});
