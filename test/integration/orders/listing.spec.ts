import { anOrder, type OrdersApp, place, send, startOrders } from './orders-app';

describe('reading orders', () => {
  let orders: OrdersApp;

  beforeAll(async () => {
    orders = await startOrders();
    await Promise.all(
      Array.from({ length: 25 }, (_, n) =>
        place(orders, anOrder({ orderNumber: `O-${n}`, partner: n % 5 === 0 ? 'umbra' : 'acme' })),
      ),
    );
    await change(
      `UPDATE orders SET state = 'accepted', version = 2, updated_at = '2031-01-01' WHERE order_number IN ('O-1', 'O-2')`,
    );
    const since = '[{"correlationId": "c", "since": "2026-01-01T00:00:00.000Z"}]';
    await change(`UPDATE orders SET deadline = '2020-01-01' WHERE order_number IN ('O-2', 'O-3')`);
    await change(`UPDATE orders SET overdue = '${since}' WHERE order_number = 'O-3'`);
  });
  afterAll(() => orders.close());

  const change = (sql: string) => orders.database.transaction((tx) => tx.query(sql));
  const numbersOf = (json: Record<string, unknown>) =>
    (json['items'] as { orderNumber: string }[]).map(({ orderNumber }) => orderNumber);

  /** All pages, following the Link header; `between` runs after each page. */
  async function pages(path: string, between: () => Promise<unknown> = async () => undefined): Promise<string[][]> {
    const found: string[][] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const answer = await send(orders, 'GET', next);
      expect(answer.status).toBe(200);
      found.push(numbersOf(answer.json));
      const link: string | undefined = /^<(.+)>; rel="next"$/.exec(String(answer.headers['link']))?.[1];
      expect(link === undefined).toBe(answer.json['nextCursor'] === null);
      next = link;
      await between();
    }
    return found;
  }

  it('shows every order once over the pages, newest first', async () => {
    const found = await pages('/v1/orders?limit=10');
    expect(found.map((page) => page.length)).toEqual([10, 10, 5]);
    expect(new Set(found.flat()).size).toBe(25);
    const all = (await send(orders, 'GET', '/v1/orders?limit=200')).json['items'] as {
      createdAt: string;
      orderNumber: string;
    }[];
    const sorted = all.toSorted(
      (a, b) => b.createdAt.localeCompare(a.createdAt) || (a.orderNumber < b.orderNumber ? 1 : -1),
    );
    expect(all).toEqual(sorted);
  });

  it('has no next page when the last one is full', async () => {
    expect((await pages('/v1/orders?limit=5')).map((page) => page.length)).toEqual([5, 5, 5, 5, 5]);
  });

  it('leaves none out and shows none twice while orders are added and changed', async () => {
    const before = new Set((await pages('/v1/orders?limit=200')).flat());
    let added = 0;
    const found = (
      await pages('/v1/orders?limit=4', async () => {
        await place(orders, anOrder({ orderNumber: `added-${added++}` }));
        await change(`UPDATE orders SET version = version + 1, updated_at = now() WHERE order_number = 'O-7'`);
      })
    ).flat();
    expect(found.filter((orderNumber) => before.has(orderNumber)).toSorted()).toEqual([...before].toSorted());
    expect(new Set(found).size).toBe(found.length);
    await change(`DELETE FROM orders WHERE order_number LIKE 'added-%'`);
  });

  it('tells orders of one instant apart by their numbers', async () => {
    await change(`UPDATE orders SET created_at = '2026-01-01' WHERE order_number LIKE 'O-1_'`);
    const found = await pages('/v1/orders?limit=3&partner=acme');
    expect(new Set(found.flat()).size).toBe(20);
    expect(found.flat()).toHaveLength(20);
  });

  it.each([
    ['partner=umbra', ['O-0', 'O-10', 'O-15', 'O-20', 'O-5']],
    ['state=accepted', ['O-1', 'O-2']],
    ['updatedSince=2030-12-31T23:59:59%2B01:00', ['O-1', 'O-2']],
    ['updatedSince=2031-01-01T00:00:00.001Z', []],
    ['overdue=true', ['O-3']],
    ['overdue=true&state=accepted', []],
    ['partner=nobody', []],
  ])('filters by %s', async (filter, expected) => {
    const found = await pages(`/v1/orders?limit=2&${filter}`);
    expect(found.flat().toSorted()).toEqual(expected);
  });

  it('filters for those that are not overdue', async () => {
    const found = (await pages('/v1/orders?limit=200&overdue=false')).flat();
    expect(found).toHaveLength(24);
    expect(found).not.toContain('O-3');
  });

  describe('with an ETag', () => {
    const get = (known: string) => send(orders, 'GET', '/v1/orders/O-8', undefined, { 'if-none-match': known });

    it.each(['"1"', 'W/"1"', '"7", "1"', '*'])('sends nothing again to who has %s', async (known) => {
      const answer = await get(known);
      expect(answer).toMatchObject({ status: 304, body: '', headers: { etag: '"1"' } });
    });

    it.each(['"2"', '1', '""', '"11"'])('sends the order to who has %s', async (known) => {
      expect(await get(known)).toMatchObject({ status: 200, json: { orderNumber: 'O-8' }, headers: { etag: '"1"' } });
    });

    it('sends the order again once it has changed', async () => {
      await change(`UPDATE orders SET version = 2 WHERE order_number = 'O-8'`);
      expect(await get('"1"')).toMatchObject({ status: 200, headers: { etag: '"2"' } });
    });
  });
});
