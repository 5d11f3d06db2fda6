import { OrderSteps } from '../../../src/orders';
import { anOrder, type OrdersApp, place, send, startOrders } from './orders-app';

describe('taking an order further from another room', () => {
  let orders: OrdersApp;
  let steps: OrderSteps;

  beforeAll(async () => {
    orders = await startOrders();
    steps = orders.app.get(OrderSteps);
  });
  afterAll(() => orders.close());

  const placed = async () => (await place(orders, anOrder())).json['orderNumber'] as string;
  const message = (id: string) => ({
    id,
    correlationId: id,
    topic: 'shipments.acme.request.v1',
    partition: 1,
    offset: '7',
  });

  it("locks a partner's orders whole, and takes another partner's for unknown", async () => {
    const [one, two] = [await placed(), await placed()];
    const locked = await orders.database.transaction((tx) => steps.lock(tx, 'acme', [two, one, two, 'none']));
    expect([...locked.keys()]).toEqual([one, two].toSorted());
    expect(locked.get(one)).toMatchObject({ state: 'placed', version: 1, agreedLines: null, cancellation: null });
    expect(locked.get(one)?.lines).toMatchObject([{ lineNumber: 1, quantity: '12.5' }, { lineNumber: 2 }]);
    expect(await orders.database.transaction((tx) => steps.lock(tx, 'umbra', [one]))).toEqual(new Map());
  });

  it('keeps others out until the transaction ends', async () => {
    const orderNumber = await placed();
    await orders.database.transaction(async (tx) => {
      await steps.lock(tx, 'acme', [orderNumber]);
      const second = orders.database.transaction((other) =>
        other.query('SELECT 1 FROM orders WHERE order_number = $1 FOR UPDATE NOWAIT', [orderNumber]),
      );
      await expect(second).rejects.toThrow('could not obtain lock');
    });
  });

  it('records several steps of one order, and leaves the order as the last of them', async () => {
    const orderNumber = await placed();
    const now = new Date('2026-02-04T08:00:00.000Z');
    const reply = { messageId: 'r-1', seq: '99', topic: 'shipments.acme.response.v1', partition: 2 };
    await orders.database.transaction(async (tx) => {
      const order = (await steps.lock(tx, 'acme', [orderNumber])).get(orderNumber);
      if (!order) throw new Error('not there');
      const part = { ...order, state: 'partly-shipped' as const, version: 2 };
      const rest = { ...order, state: 'shipped' as const, version: 3 };
      await steps.record(
        tx,
        [
          { order: part, type: 'partly-shipped', message: message('d-1'), detail: { documentNumber: 'D-1' }, reply },
          { order: rest, type: 'shipped', message: message('d-2') },
        ],
        now,
      );
    });
    const { json } = await send(orders, 'GET', `/v1/orders/${orderNumber}`);
    expect(json).toMatchObject({ state: 'shipped', version: 3, updatedAt: now.toISOString(), agreedLines: null });
    const events = await orders.database.query(
      'SELECT version, type, message_id AS id, "offset", detail FROM order_event WHERE order_number = :orderNumber AND version > 1 ORDER BY version',
      { orderNumber },
    );
    expect(events).toEqual([
      { version: 2, type: 'partly-shipped', id: 'd-1', offset: '7', detail: { documentNumber: 'D-1', reply } },
      { version: 3, type: 'shipped', id: 'd-2', offset: '7', detail: null },
    ]);
  });
});
