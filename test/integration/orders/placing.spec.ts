import { anOrder, counts, type OrdersApp, place, send, startOrders } from './orders-app';

describe('placing an order', () => {
  let orders: OrdersApp;

  beforeAll(async () => {
    orders = await startOrders();
  });
  afterAll(() => orders.close());

  it('answers 201 with the order, its place and its version, and shows it afterwards', async () => {
    const body = anOrder();
    const answer = await place(orders, body);
    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({ location: `/v1/orders/${String(body['orderNumber'])}`, etag: '"1"' });
    expect(answer.json).toMatchObject({ ...body, state: 'placed', version: 1, agreedLines: null });
    const shown = await send(orders, 'GET', String(answer.headers['location']));
    expect(shown.status).toBe(200);
    expect(shown.body).toBe(answer.body);
  });
});
