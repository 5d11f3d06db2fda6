import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { anOrder, counts, type OrdersApp, place, send, startOrders } from './orders-app';

describe('while the database is away', () => {
  let orders: OrdersApp;
  let wire: TcpProxy;

  beforeAll(async () => {
    const url = new URL(await freshDatabase());
    wire = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(wire.port);
    orders = await startOrders({ databaseUrl: url.href });
  });
  afterAll(async () => {
    wire.refuse(false);
    wire.dropResponses(false);
    await orders.close();
    await wire.close();
  });
  afterEach(() => {
    wire.dropResponses(false);
    wire.refuse(false);
    wire.cutAll();
  });

  const expectOutage = (answer: Awaited<ReturnType<typeof send>>) => {
    expect(answer).toMatchObject({ status: 503, json: { code: 'database-unavailable' } });
    expect(answer.headers).toMatchObject({
      'retry-after': '2',
      'content-type': 'application/problem+json; charset=utf-8',
    });
    expect(answer.body).not.toMatch(/127\.0\.0\.1|postgres/i);
  };

  it('asks to come back later, and serves again when it is there', async () => {
    wire.refuse(true);
    wire.cutAll();
    for (const answer of await Promise.all([
      place(orders, anOrder()),
      place(orders, anOrder()),
      send(orders, 'GET', '/v1/orders'),
    ])) {
      expectOutage(answer);
    }
    wire.refuse(false);
    await eventually(async () => (await place(orders, anOrder())).status === 201);
  });

  it('makes one order of a request whose commit was not heard, however often it is sent again', async () => {
    await place(orders, anOrder());
    const before = await counts(orders.database);
    const body = anOrder();
    // The server does the work; what it answers to COMMIT is lost with the connection.
    wire.filter((data, direction) => {
      if (direction === 'request' && data.includes('COMMIT')) {
        setTimeout(() => wire.cutAll(), 100);
        wire.dropResponses(true);
      }
      return data;
    });
    expectOutage(await place(orders, body, 'unheard'));
    wire.filter(undefined);
    wire.dropResponses(false);
    await eventually(async () => (await place(orders, body, 'unheard')).status === 201);
    expect((await place(orders, body, 'unheard')).status).toBe(201);
    expect(await counts(orders.database)).toEqual(
      Object.fromEntries(Object.entries(before).map(([table, count]) => [table, count + 1])),
    );
  });
});
