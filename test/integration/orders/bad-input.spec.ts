import { type AddressInfo, connect } from 'node:net';
import { pino } from 'pino';
import { PROBLEM_CODES } from '../../../src/platform/http';
import { addPartner, type Answer, anOrder, counts, type OrdersApp, place, send, startOrders } from './orders-app';

const line = { lineNumber: 1, item: 'A-100', quantity: '1', unit: 'C62', unitPrice: '1' };
const withLine = (change: Record<string, unknown>) =>
  anOrder({ lines: [line, { ...line, lineNumber: 2 }, { ...line, lineNumber: 3, ...change }] });
const without = (name: string) => Object.fromEntries(Object.entries(anOrder()).filter(([key]) => key !== name));
const pointersOf = (answer: Answer) =>
  (answer.json['errors'] as { pointer: string }[] | undefined)?.map(({ pointer }) => pointer);

describe('bad input', () => {
  let orders: OrdersApp;

  beforeAll(async () => {
    orders = await startOrders();
  });
  afterAll(() => orders.close());
  afterEach(async () => {
    expect(await counts(orders.database)).toEqual({ orders: 0, events: 0, exchanges: 0, outbox: 0, keys: 0 });
    expect(orders.wakes()).toBe(0);
  });

  function expectProblem(answer: Answer, status: number, code: string): void {
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(answer.json).toMatchObject({
      type: `/docs/problems/${code}`,
      status,
      code,
      title: PROBLEM_CODES[code]?.title,
    });
    expect(answer.status).toBe(status);
    expect(answer.json['traceId']).toMatch(/^[0-9a-f]{32}$/);
    expect(answer.body).not.toMatch(/at .*\.[jt]s:\d/);
  }

  it.each<[string, () => unknown, string]>([
    ['an unknown member', () => anOrder({ currencyy: 'EUR' }), '/currencyy'],
    ['an unknown member of a line', () => withLine({ 'a/b~c': 1 }), '/lines/2/a~1b~0c'],
    ['no partner', () => without('partner'), '/partner'],
    ['no lines', () => without('lines'), '/lines'],
    ['an empty list of lines', () => anOrder({ lines: [] }), '/lines'],
    ['lines that are an object', () => anOrder({ lines: { 0: line } }), '/lines'],
    ['lines that are text', () => anOrder({ lines: 'A-100' }), '/lines'],
    ['a line that is null', () => anOrder({ lines: [line, null] }), '/lines/1'],
    ['a line that is text', () => anOrder({ lines: [line, 'A-100'] }), '/lines/1'],
    ['a partner that is a number', () => anOrder({ partner: 7 }), '/partner'],
    ['a partner id with a dot', () => anOrder({ partner: 'acme.eu' }), '/partner'],
    ['a currency in small letters', () => anOrder({ currency: 'eur' }), '/currency'],
    ['an order number with a space', () => anOrder({ orderNumber: 'a b' }), '/orderNumber'],
    ['an order number of 65 characters', () => anOrder({ orderNumber: 'x'.repeat(65) }), '/orderNumber'],
    ['an empty order number', () => anOrder({ orderNumber: '' }), '/orderNumber'],
    ['an order number that is null', () => anOrder({ orderNumber: null }), '/orderNumber'],
    ['an order number with a line break at its end', () => anOrder({ orderNumber: 'a\n' }), '/orderNumber'],
    ['the order number ".", which no URL can carry', () => anOrder({ orderNumber: '.' }), '/orderNumber'],
    ['the order number "..", which no URL can carry', () => anOrder({ orderNumber: '..' }), '/orderNumber'],
    ['a negative quantity', () => withLine({ quantity: '-1' }), '/lines/2/quantity'],
    ['a quantity of 40 digits', () => withLine({ quantity: '9'.repeat(40) }), '/lines/2/quantity'],
    ['a quantity of seven decimals', () => withLine({ quantity: '1.0000001' }), '/lines/2/quantity'],
    ['a quantity of zero', () => withLine({ quantity: '0.00' }), '/lines/2/quantity'],
    ['a quantity that is a number', () => withLine({ quantity: 5 }), '/lines/2/quantity'],
    ['a quantity in scientific notation', () => withLine({ quantity: '1e3' }), '/lines/2/quantity'],
    ['a quantity in other digits', () => withLine({ quantity: '١٢' }), '/lines/2/quantity'],
    ['a quantity that is a list', () => withLine({ quantity: ['1'] }), '/lines/2/quantity'],
    ['a negative price', () => withLine({ unitPrice: '-0.01' }), '/lines/2/unitPrice'],
    ['a line number of zero', () => withLine({ lineNumber: 0 }), '/lines/2/lineNumber'],
    ['a line number that is text', () => withLine({ lineNumber: '3' }), '/lines/2/lineNumber'],
    ['a line number with a fraction', () => withLine({ lineNumber: 1.5 }), '/lines/2/lineNumber'],
    ['a line number beyond 32 bits', () => withLine({ lineNumber: 2 ** 31 }), '/lines/2/lineNumber'],
    ['an item with a NUL', () => withLine({ item: 'a\0b' }), '/lines/2/item'],
    ['an item with half a surrogate pair', () => withLine({ item: 'a\ud800' }), '/lines/2/item'],
    ['an item of 65 characters', () => withLine({ item: 'x'.repeat(65) }), '/lines/2/item'],
    [
      'an item of 66 characters of which half only colour others',
      () => withLine({ item: '\u2764\ufe0f'.repeat(33) }),
      '/lines/2/item',
    ],
    ['an empty item', () => withLine({ item: '' }), '/lines/2/item'],
    ['a unit of four letters', () => withLine({ unit: 'KILO' }), '/lines/2/unit'],
    [
      '1,001 lines',
      () => anOrder({ lines: Array.from({ length: 1001 }, (_, n) => ({ ...line, lineNumber: n + 1 })) }),
      '/lines',
    ],
    [
      '10,000 lines',
      () => anOrder({ lines: Array.from({ length: 10_000 }, (_, n) => ({ ...line, lineNumber: n + 1 })) }),
      '/lines',
    ],
  ])('refuses %s, saying where', async (_, body, pointer) => {
    const answer = await place(orders, body());
    expectProblem(answer, 400, 'request-invalid');
    expect(pointersOf(answer)).toContain(pointer);
  });

  it('lists every violation at once', async () => {
    const answer = await place(orders, {
      partner: 'ACME',
      currency: 'E',
      lines: [{ ...line, quantity: '-1', unit: '?' }],
      more: 1,
    });
    expect(pointersOf(answer)?.sort()).toEqual([
      '/currency',
      '/lines/0/quantity',
      '/lines/0/unit',
      '/more',
      '/partner',
    ]);
  });

  it('says of a missing member that it is missing, once', async () => {
    const answer = await place(orders, anOrder({ lines: [{ item: 'X', quantity: '1', unit: 'C62', unitPrice: '1' }] }));
    expect(answer.json['errors']).toEqual([
      { pointer: '/lines/0/lineNumber', detail: expect.stringMatching(/^is missing; it must/) as string },
    ]);
  });

  it('answers for a body of violations with a bounded list', async () => {
    const answer = await place(
      orders,
      anOrder({ lines: Array.from({ length: 1000 }, (_, n) => ({ lineNumber: n + 1 })) }),
    );
    expect(pointersOf(answer)).toHaveLength(100);
  });

  it.each([
    ['a list', '[]', 'request-invalid'],
    ['text', '"order"', 'request-invalid'],
    ['null', 'null', 'request-invalid'],
    ['nested 9 levels deep', `{"a":${'['.repeat(8)}${']'.repeat(8)}}`, 'request-invalid'],
    ['nested 100,000 levels deep', `{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`, 'request-invalid'],
    ['nothing', '', 'malformed-json'],
    ['cut short', '{"partner":"acme"', 'malformed-json'],
    ['not JSON', 'partner=acme', 'malformed-json'],
    ['out to change prototypes', '{"partner":"acme","__proto__":{"x":1}}', 'malformed-json'],
  ])('refuses a body that is %s', async (_, body, code) => {
    expectProblem(await place(orders, body), 400, code);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'application/jsonp'])(
    'refuses the content type %s',
    async (type) => {
      const answer = await send(orders, 'POST', '/v1/orders', anOrder(), {
        'content-type': type,
        'idempotency-key': 'k',
      });
      expectProblem(answer, 415, 'content-type-unsupported');
    },
  );

  it('refuses a body over the limit', async () => {
    const answer = await place(orders, anOrder({ filler: 'x'.repeat(1_100_000) }));
    expectProblem(answer, 413, 'body-too-large');
  });

  it("refuses an order whose document the partner's topic does not take", async () => {
    await addPartner(orders.database, 'narrow', 'json');
    await orders.database.dataSource.query(`UPDATE channel SET max_message_bytes = 4000 WHERE partner = 'narrow'`);
    const lines = Array.from({ length: 100 }, (_, index) => ({ ...line, lineNumber: index + 1 }));
    expectProblem(await place(orders, anOrder({ partner: 'narrow', lines })), 413, 'message-too-large');
  });

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['one with a space', 'a b'],
    ['one of 256 characters', 'x'.repeat(256)],
    ['one with umlauts', 'schlüssel'],
  ])('refuses a request with no fit Idempotency-Key: %s', async (_, key) => {
    const answer = await send(
      orders,
      'POST',
      '/v1/orders',
      anOrder(),
      key === undefined ? {} : { 'idempotency-key': key },
    );
    expectProblem(answer, 400, 'idempotency-key-missing');
    expect(pointersOf(answer)).toEqual(['Idempotency-Key']);
  });

  it('refuses an unknown partner', async () => {
    const answer = await place(orders, anOrder({ partner: 'nobody' }));
    expectProblem(answer, 422, 'partner-unknown');
    expect(pointersOf(answer)).toEqual(['/partner']);
  });

  it('refuses a currency that nobody pays in', async () => {
    const answer = await place(orders, anOrder({ currency: 'ZZZ' }));
    expectProblem(answer, 422, 'order-invalid');
    expect(pointersOf(answer)).toEqual(['/currency']);
  });

  it('refuses a line number that comes twice, pointing at the second', async () => {
    const answer = await place(orders, withLine({ lineNumber: 2 }));
    expectProblem(answer, 422, 'order-invalid');
    expect(pointersOf(answer)).toEqual(['/lines/2/lineNumber']);
  });

  it.each(['', 'x', '0', '201', '1e2', '-1', '50&limit=60'])('refuses the page size %j', async (limit) => {
    const answer = await send(orders, 'GET', `/v1/orders?limit=${limit}`);
    expectProblem(answer, 400, 'request-invalid');
    expect(pointersOf(answer)).toContain('limit');
  });

  it.each([
    'state=lost',
    'overdue=maybe',
    'updatedSince=yesterday',
    'updatedSince=2026-02-30T00:00:00Z',
    'updatedSince=2026-01-01T00:00:00',
    'updatedSince=2026-06-30T23:59:60Z',
    'updatedSince=2026-01-01T00:00:00%2B99:99',
    'partner=A',
    'page=2',
    'cursor=%00',
  ])('refuses the filter %s', async (filter) => {
    const answer = await send(orders, 'GET', `/v1/orders?${filter}`);
    expectProblem(answer, 400, 'request-invalid');
    expect(new Set(pointersOf(answer))).toEqual(new Set([filter.split('=')[0]]));
  });

  it.each([
    'bm9uc2Vuc2U',
    Buffer.from('["2026-01-01","x"]').toString('base64url'),
    Buffer.from('["2026-01-01T00:00:00.000Z","\\u0000"]').toString('base64url'),
  ])('refuses the cursor %s', async (cursor) => {
    expectProblem(await send(orders, 'GET', `/v1/orders?cursor=${cursor}`), 400, 'cursor-invalid');
  });

  it.each([
    '/v1/orders/unknown',
    '/v1/orders/a%00b',
    '/v1/orders/%F0%9F%92%A9',
    `/v1/orders/${'x'.repeat(200)}`,
    '/v1/orders/unknown/timeline',
  ])('knows no order at %s', async (path) => {
    expectProblem(await send(orders, 'GET', path), 404, 'order-unknown');
  });

  it('knows no other paths, and refuses a malformed one', async () => {
    expectProblem(await send(orders, 'GET', '/v2/orders'), 404, 'not-found');
    expectProblem(await send(orders, 'GET', '/v1/orders/%zz'), 400, 'request-malformed');
  });

  it("names the caller's trace in the problem, and answers with its request id", async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const answer = await send(orders, 'GET', '/v1/orders/unknown', undefined, {
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
      'x-request-id': 'mine-1',
    });
    expect(answer.json['traceId']).toBe(trace);
    expect(answer.headers['x-request-id']).toBe('mine-1');
  });

  it('leaves one line of each refusal in the log: code, route and trace, never the payload', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const logged = await startOrders({ logger });
    try {
      const { json } = await place(logged, anOrder({ currency: 'secret-text' }));
      expect(lines.map((one) => JSON.parse(one) as unknown)).toMatchObject([
        { msg: 'request refused', code: 'request-invalid', status: 400, trace: json['traceId'], route: '/v1/orders' },
      ]);
      expect(lines.join()).not.toContain('secret-text');
    } finally {
      await logged.close();
    }
  });

  it('answers bytes that are not HTTP by closing, and lives on', async () => {
    await orders.app.listen(0, '127.0.0.1');
    const { port } = orders.app.getHttpServer().address() as AddressInfo;
    const said = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('\x16\x03\x01 garbage\r\n\r\n'));
      let text = '';
      socket.on('data', (data) => (text += data.toString()));
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    expect(said).toContain('400');
    expect((await fetch(`http://127.0.0.1:${port}/v1/orders`, { headers: { ...orders.key.headers } })).status).toBe(
      200,
    );
  });
});
