import { type OrderResponse, orderResponse, typeOf } from '../../../src/contracts';
import { ChannelCatalog } from '../../../src/messaging/channels';
import type { InboundMessage, Outcome } from '../../../src/messaging/consumer';
import { Exchanges } from '../../../src/messaging/exchanges';
import { OrderNotices } from '../../../src/orders/order-notices';
import { OrderRepository } from '../../../src/orders/order.repository';
import { OrderSteps } from '../../../src/orders/order-steps';
import { OrderResponseHandler } from '../../../src/orders/order-response.handler';
import { anOrder, type OrdersApp, place, send, startOrders } from './orders-app';

describe("partners' answers", () => {
  let orders: OrdersApp;
  let catalog: ChannelCatalog;
  let handler: OrderResponseHandler;
  let offset = 0;

  beforeAll(async () => {
    orders = await startOrders();
    catalog = orders.app.get(ChannelCatalog);
    await catalog.load();
    handler = orders.app.get(OrderResponseHandler);
  });
  afterAll(() => orders.close());

  /** An order as the partner got it: number and correlation id. */
  async function placed(change: Record<string, unknown> = {}): Promise<{ orderNumber: string; correlationId: string }> {
    const { orderNumber } = (await place(orders, anOrder(change))).json as { orderNumber: string };
    const [row] = await orders.database.query<{ correlationId: string }>(
      'SELECT correlation_id AS "correlationId" FROM exchange WHERE order_number = :orderNumber',
      { orderNumber },
    );
    return { orderNumber, correlationId: row?.correlationId ?? '' };
  }

  function message(
    partner: string,
    correlationId: string | undefined,
    value: Pick<OrderResponse, 'orderNumber' | 'responseCode'> & Partial<OrderResponse>,
  ): InboundMessage<OrderResponse> {
    const topic = `orders.${partner}.response.v1`;
    const channel = catalog.find(topic);
    if (!channel) throw new Error(`no channel ${topic}`);
    return {
      id: `m-${++offset}`,
      channel,
      partner,
      key: value.orderNumber,
      type: typeOf(orderResponse),
      correlationId,
      causationId: undefined,
      time: undefined,
      writtenAt: undefined,
      value: { issuedAt: '2026-02-03T04:05:06Z', ...value },
      topic,
      partition: 1,
      offset: String(9007199254740993n + BigInt(offset)),
    };
  }

  const handle = (partner: string, messages: InboundMessage<OrderResponse>[], now = new Date()): Promise<Outcome[]> =>
    orders.database.transaction((tx) => handler.handle({ tx, partner, now, messages }));
  const show = async (orderNumber: string) => (await send(orders, 'GET', `/v1/orders/${orderNumber}`)).json;
  const exchangeOf = async (orderNumber: string) =>
    (
      await orders.database.query<Record<string, unknown>>(
        'SELECT state, answer_message_id AS "messageId", answer_code AS code FROM exchange WHERE order_number = :orderNumber',
        { orderNumber },
      )
    )[0];
  const untouched = { state: 'placed', version: 1 };

  it('are applied one after the other in one batch: AB, then AP', async () => {
    const { orderNumber, correlationId } = await placed();
    const batch = [
      message('acme', correlationId, { orderNumber, responseCode: 'AB' }),
      message('acme', correlationId, { orderNumber, responseCode: 'AP' }),
    ];
    expect(await handle('acme', batch)).toEqual([{ kind: 'applied' }, { kind: 'applied' }]);
    expect(await show(orderNumber)).toMatchObject({ state: 'accepted', version: 3 });
    expect(await exchangeOf(orderNumber)).toEqual({ state: 'answered', messageId: batch[1]?.id, code: 'AP' });
  });

  it('are applied one after the other in two batches: AB, then AP', async () => {
    const { orderNumber, correlationId } = await placed();
    await handle('acme', [message('acme', correlationId, { orderNumber, responseCode: 'AB' })]);
    expect(await show(orderNumber)).toMatchObject({ state: 'acknowledged', version: 2 });
    expect(await exchangeOf(orderNumber)).toMatchObject({ state: 'acknowledged' });
    await handle('acme', [message('acme', correlationId, { orderNumber, responseCode: 'AP' })]);
    expect(await show(orderNumber)).toMatchObject({ state: 'accepted', version: 3 });
  });

  it('tell their story in the timeline, with the place of each message', async () => {
    const { orderNumber, correlationId } = await placed();
    const answer = message('acme', correlationId, { orderNumber, responseCode: 'RE', reason: 'out of stock' });
    await handle('acme', [answer], new Date(Date.now() + 24 * 3_600_000));
    const { json } = await send(orders, 'GET', `/v1/orders/${orderNumber}/timeline`);
    expect(json).toMatchObject({ orderNumber, state: 'rejected' });
    expect(json['steps']).toMatchObject([
      { step: 'placed', correlationId },
      { step: 'waiting-to-be-published', topic: 'orders.acme.request.v1', offset: null },
      {
        step: 'rejected',
        text: 'acme rejected the order, after the deadline: out of stock',
        messageId: answer.id,
        topic: answer.topic,
        partition: 1,
        offset: answer.offset,
      },
    ]);
  });

  it('show the place in Kafka of the order itself once it has a receipt', async () => {
    const { orderNumber } = await placed();
    await orders.database.transaction((tx) =>
      tx.query(
        `INSERT INTO outbox_receipt (topic, partition, base_offset, first_seq, last_seq, seqs)
         SELECT topic, partition, 41, seq, seq, ARRAY[seq] FROM outbox_message WHERE aggregateid = $1`,
        [orderNumber],
      ),
    );
    const { json } = await send(orders, 'GET', `/v1/orders/${orderNumber}/timeline`);
    expect(json['steps']).toMatchObject([
      { step: 'placed' },
      { step: 'published', topic: 'orders.acme.request.v1', offset: '41' },
      { step: 'waiting-for-answer' },
    ]);
  });

  it('change the lines that they change, to the digit', async () => {
    const { orderNumber, correlationId } = await placed();
    const lines = [{ lineNumber: 2, quantity: '123456789012345678.000001', unitPrice: '0.10' }];
    expect(await handle('acme', [message('acme', correlationId, { orderNumber, responseCode: 'CA', lines })])).toEqual([
      { kind: 'applied' },
    ]);
    const shown = await show(orderNumber);
    const ordered = shown['lines'] as Record<string, unknown>[];
    expect(shown).toMatchObject({ state: 'changed', agreedLines: [ordered[0], { ...ordered[1], ...lines[0] }] });
    expect(ordered[1]).toMatchObject({ quantity: '1', unitPrice: '0.000001' });
  });

  it('are dead when they change a line that the order has not, and hold what follows', async () => {
    const { orderNumber, correlationId } = await placed();
    const lines = [{ lineNumber: 7, quantity: '1', unitPrice: '1' }];
    const outcomes = await handle('acme', [
      message('acme', correlationId, { orderNumber, responseCode: 'CA', lines }),
      message('acme', correlationId, { orderNumber, responseCode: 'AP' }),
    ]);
    expect(outcomes).toMatchObject([
      { kind: 'dead', code: 'line-unknown', pointer: '/lines/0/lineNumber' },
      { kind: 'held' },
    ]);
    expect(await show(orderNumber)).toMatchObject(untouched);
  });

  it('are dead when they contradict a final answer', async () => {
    const { orderNumber, correlationId } = await placed();
    await handle('acme', [message('acme', correlationId, { orderNumber, responseCode: 'AP' })]);
    expect(await handle('acme', [message('acme', correlationId, { orderNumber, responseCode: 'RE' })])).toMatchObject([
      { kind: 'dead', code: 'illegal-transition' },
    ]);
    expect(await show(orderNumber)).toMatchObject({ state: 'accepted', version: 2 });
    expect(await exchangeOf(orderNumber)).toMatchObject({ code: 'AP' });
  });

  it('are dead without a correlation id, with an unknown one, and with that of another order', async () => {
    const { orderNumber } = await placed();
    const other = await placed();
    for (const [correlationId, code] of [
      [undefined, 'correlation-missing'],
      ['never-given', 'exchange-unknown'],
      [other.correlationId, 'exchange-mismatch'],
    ] as const) {
      expect(await handle('acme', [message('acme', correlationId, { orderNumber, responseCode: 'AP' })])).toMatchObject(
        [{ kind: 'dead', code }],
      );
    }
    expect(await show(orderNumber)).toMatchObject(untouched);
    expect(await show(other.orderNumber)).toMatchObject(untouched);
  });

  it("never touch another partner's order or exchange, and never say whose it is", async () => {
    const { orderNumber, correlationId } = await placed();
    const own = await placed({ partner: 'umbra' });
    const outcomes = await handle('umbra', [
      message('umbra', correlationId, { orderNumber, responseCode: 'AP' }),
      message('umbra', correlationId, { orderNumber: own.orderNumber, responseCode: 'AP' }),
      message('umbra', own.correlationId, { orderNumber: `${orderNumber}-none`, responseCode: 'AP' }),
    ]);
    expect(outcomes).toMatchObject([
      { kind: 'dead', code: 'exchange-foreign' },
      { kind: 'dead', code: 'exchange-foreign' },
      { kind: 'dead', code: 'order-unknown' },
    ]);
    expect(JSON.stringify(outcomes)).not.toContain('acme');
    const foreign = await handle('umbra', [message('umbra', own.correlationId, { orderNumber, responseCode: 'AP' })]);
    expect(foreign).toMatchObject([{ kind: 'dead', code: 'order-unknown' }]);
    expect(await show(orderNumber)).toMatchObject(untouched);
    expect(await show(own.orderNumber)).toMatchObject(untouched);
    expect(await exchangeOf(orderNumber)).toMatchObject({ state: 'awaiting' });
  });

  it('are applied where order and exchange became visible between the looks at them', async () => {
    const { orderNumber } = anOrder() as { orderNumber: string };
    const answer = message('acme', undefined, { orderNumber, responseCode: 'AP' });
    const repository = orders.app.get(OrderRepository);
    const watched = Object.create(repository) as OrderRepository;
    let looks = 0;
    watched.lock = async (...given) => {
      const found = await repository.lock(...given);
      if (++looks === 1) answer.correlationId = (await placed({ orderNumber })).correlationId;
      return found;
    };
    const early = new OrderResponseHandler(
      watched,
      new OrderSteps(watched, orders.app.get(OrderNotices)),
      orders.app.get(Exchanges),
    );
    const outcomes = await orders.database.transaction((tx) =>
      early.handle({ tx, partner: 'acme', now: new Date(), messages: [answer] }),
    );
    expect(outcomes).toEqual([{ kind: 'applied' }]);
    expect(await show(orderNumber)).toMatchObject({ state: 'accepted', version: 2 });
  });

  it('are applied with a reason that PostgreSQL does not take as it is', async () => {
    const { orderNumber, correlationId } = await placed();
    const reason = 'sold\0out \ud83d';
    expect(await handle('acme', [message('acme', correlationId, { orderNumber, responseCode: 'RE', reason })])).toEqual(
      [{ kind: 'applied' }],
    );
    const { json } = await send(orders, 'GET', `/v1/orders/${orderNumber}/timeline`);
    expect((json['steps'] as { text: string }[]).at(-1)?.text).toBe('acme rejected the order: sold\ufffdout \ufffd');
  });

  it('of many orders are applied in one batch, each order written once, outcomes in order', async () => {
    const many = await Promise.all(Array.from({ length: 40 }, () => placed()));
    const batch = many.flatMap(({ orderNumber, correlationId }, n) => [
      message('acme', correlationId, { orderNumber, responseCode: 'AB' }),
      message('acme', n % 4 === 0 ? 'never-given' : correlationId, {
        orderNumber,
        responseCode: n % 2 === 0 ? 'AP' : 'RE',
      }),
    ]);
    const outcomes = await handle('acme', batch);
    expect(outcomes.map(({ kind }) => kind)).toEqual(
      many.flatMap((_, n) => ['applied', n % 4 === 0 ? 'dead' : 'applied']),
    );
    for (const [n, { orderNumber }] of many.entries()) {
      expect((await show(orderNumber))['state']).toBe(
        n % 4 === 0 ? 'acknowledged' : n % 2 === 0 ? 'accepted' : 'rejected',
      );
    }
    const events = await orders.database.query<{ versions: string }>(
      `SELECT string_agg(version::text, ',' ORDER BY version) AS versions FROM order_event WHERE order_number = ANY(:numbers::text[]) GROUP BY order_number`,
      { numbers: many.map(({ orderNumber }) => orderNumber) },
    );
    expect(events.map(({ versions }) => versions).sort()).toEqual([
      ...Array<string>(10).fill('1,2'),
      ...Array<string>(30).fill('1,2,3'),
    ]);
  });

  it('to one order from two batches at once are applied one after the other', async () => {
    const { orderNumber, correlationId } = await placed();
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () =>
        handle('acme', [message('acme', correlationId, { orderNumber, responseCode: 'AB' })]),
      ),
    );
    expect(outcomes.flat().every(({ kind }) => kind === 'applied')).toBe(true);
    expect(await show(orderNumber)).toMatchObject({ state: 'acknowledged', version: 9 });
  });
});
