import { Client } from 'pg';
import { eventually } from '../../support/eventually';
import { anOrder, counts, databaseUrl, type OrdersApp, place, send, startOrders } from './orders-app';

/** A connection as another process has one. */
async function connected({ database }: OrdersApp): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl(database) });
  await client.connect();
  return client;
}

const numberOf = (body: Record<string, unknown>) => String(body['orderNumber']);

describe('placing an order', () => {
  let orders: OrdersApp;

  beforeAll(async () => {
    orders = await startOrders();
  });
  afterAll(() => orders.close());

  const rowsOf = async (orderNumber: string) => {
    const [row] = await orders.database.query<Record<string, unknown>>(
      `SELECT o.version, e.type, e.outbox_seq AS "eventSeq", x.state AS "exchangeState", x.request_seq AS "exchangeSeq", x.correlation_id AS "exchangeId",
              m.seq, m.id, m.aggregatetype, m.topic, m.correlationid, m.traceparent, m.payload, x.request_message_id AS "requestId"
       FROM orders o JOIN order_event e USING (order_number) JOIN exchange x USING (order_number) JOIN outbox_message m ON m.aggregateid = o.order_number
       WHERE o.order_number = :orderNumber`,
      { orderNumber },
    );
    return row ?? {};
  };

  it('answers 201 with the order, its place and its version, and shows it afterwards', async () => {
    const body = anOrder();
    const answer = await place(orders, body);
    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({ location: `/v1/orders/${numberOf(body)}`, etag: '"1"' });
    expect(answer.json).toMatchObject({ ...body, state: 'placed', version: 1, agreedLines: null });
    const shown = await send(orders, 'GET', String(answer.headers['location']));
    expect(shown.status).toBe(200);
    expect(shown.body).toBe(answer.body);
  });

  it('writes the order, its event, its exchange and its message, which name each other, and wakes the relay', async () => {
    const wakes = orders.wakes();
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const body = anOrder();
    await send(orders, 'POST', '/v1/orders', body, {
      'idempotency-key': 'rows',
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
    });
    const row = await rowsOf(numberOf(body));
    expect(row).toMatchObject({
      version: 1,
      type: 'placed',
      exchangeState: 'awaiting',
      eventSeq: row['seq'],
      exchangeSeq: row['seq'],
      exchangeId: row['correlationid'],
      requestId: row['id'],
      aggregatetype: 'order',
      topic: 'orders.acme.request.v1',
    });
    expect(row['traceparent']).toMatch(new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`));
    expect(orders.wakes()).toBe(wakes + 1);
  });

  it('tells in the story for ever who placed it, also once the key is forgotten that made the request repeatable', async () => {
    const body = anOrder();
    await place(orders, body);
    await orders.database.transaction((tx) => tx.query('DELETE FROM idempotency_key'));
    const { json } = await send(orders, 'GET', `/v1/orders/${numberOf(body)}/timeline`);
    const [{ text }] = json['steps'] as [{ text: string }];
    expect(text).toContain(`Order placed with acme by test (${orders.key.id}): `);
  });

  it('carries decimals to the document and back without touching a digit', async () => {
    const lines = [
      { lineNumber: 1, item: 'A', quantity: '123456789012345678.123456', unit: 'C62', unitPrice: '0.100000' },
      {
        lineNumber: 2147483647,
        item: 'Ж—€ 💡',
        quantity: '0.000001',
        unit: 'KGM',
        unitPrice: '999999999999999999.999999',
      },
    ];
    const body = anOrder({ lines });
    const answer = await place(orders, body);
    expect(answer.json['lines']).toEqual(lines);
    const { payload } = await rowsOf(numberOf(body));
    expect(JSON.parse((payload as Buffer).toString())).toMatchObject({
      orderNumber: body['orderNumber'],
      currency: 'EUR',
      lines,
    });
  });

  it('numbers an order that has no number, and draws again when somebody has taken it', async () => {
    const { orderNumber: _, ...body } = anOrder();
    const first = await place(orders, body);
    expect(first.json['orderNumber']).toMatch(/^PO-\d{9}$/);
    const next = `PO-${String(Number(String(first.json['orderNumber']).slice(3)) + 1).padStart(9, '0')}`;
    expect((await place(orders, anOrder({ orderNumber: next }))).status).toBe(201);
    const second = await place(orders, body);
    expect(second.status).toBe(201);
    expect(second.json['orderNumber']).not.toBe(next);
  });

  it('accepts orders for a suspended partner', async () => {
    await orders.database.transaction((tx) => tx.query(`UPDATE partner SET state = 'suspended' WHERE id = 'umbra'`));
    expect((await place(orders, anOrder({ partner: 'umbra' }))).status).toBe(201);
  });

  describe('with an Idempotency-Key', () => {
    it('answers the same request with the first answer, also after the order has moved on', async () => {
      const body = anOrder();
      const first = await place(orders, body, 'again');
      await orders.database.transaction((tx) =>
        tx.query(
          `UPDATE orders SET state = 'changed', version = 3, agreed_lines = '[]', updated_at = now() WHERE order_number = $1`,
          [body['orderNumber']],
        ),
      );
      const before = await counts(orders.database);
      const second = await place(orders, body, 'again');
      expect(second.status).toBe(201);
      expect(second.body).toBe(first.body);
      const told = ({ headers }: typeof first) => ({ ...headers, date: null, 'x-request-id': null });
      expect(told(second)).toEqual(told(first));
      expect(await counts(orders.database)).toEqual(before);
      expect((await send(orders, 'GET', `/v1/orders/${numberOf(body)}`)).json).toMatchObject({
        state: 'changed',
        version: 3,
      });
    });

    it('reads the same request in another spelling as the same', async () => {
      const body = anOrder();
      const first = await place(orders, body, 'spelling');
      const second = await place(
        orders,
        JSON.stringify(Object.fromEntries(Object.entries(body).reverse()), null, 2),
        'spelling',
      );
      expect(second.body).toBe(first.body);
    });

    it('answers an order that Parley numbered with the same number again', async () => {
      const { orderNumber: _, ...body } = anOrder();
      const first = await place(orders, body, 'numbered');
      const second = await place(orders, body, 'numbered');
      expect(second.body).toBe(first.body);
    });

    it('refuses another request', async () => {
      await place(orders, anOrder(), 'reused');
      const before = await counts(orders.database);
      const answer = await place(orders, anOrder(), 'reused');
      expect(answer).toMatchObject({ status: 422, json: { code: 'idempotency-key-reused' } });
      expect(await counts(orders.database)).toEqual(before);
    });

    it('makes one order of twenty requests at once; each gets it or is told that it is being made', async () => {
      const body = anOrder();
      const answers = await Promise.all(Array.from({ length: 20 }, () => place(orders, body, 'twenty')));
      const made = answers.filter(({ status }) => status === 201);
      expect(made.length).toBeGreaterThanOrEqual(1);
      expect(new Set(made.map((answer) => answer.body)).size).toBe(1);
      for (const { status, json } of answers)
        if (status !== 201) expect([status, json['code']]).toEqual([409, 'idempotency-key-in-progress']);
      expect(
        await orders.database.query('SELECT 1 FROM orders WHERE order_number = :n', { n: body['orderNumber'] }),
      ).toHaveLength(1);
      expect((await place(orders, body, 'twenty')).body).toBe(made[0]?.body);
    });

    it('is refused at once, not made to wait, while another process uses it', async () => {
      const other = await connected(orders);
      try {
        await other.query('BEGIN');
        // What another process does: the lock on the 64-bit name of (caller, key), then its row.
        await other.query(
          `SELECT pg_advisory_xact_lock(('x' || left(encode(sha256('${orders.key.id}'::bytea || '\\x00'::bytea || 'elsewhere'::bytea), 'hex'), 16))::bit(64)::bigint)`,
        );
        await other.query(`INSERT INTO idempotency_key VALUES ('${orders.key.id}', 'elsewhere', '\\x00', 'n', now())`);
        const [refused, neighbour] = await Promise.all([
          place(orders, anOrder(), 'elsewhere'),
          place(orders, anOrder()),
        ]);
        expect(refused).toMatchObject({
          status: 409,
          json: { code: 'idempotency-key-in-progress' },
          headers: { 'retry-after': '1' },
        });
        expect(neighbour.status).toBe(201);
      } finally {
        await other.end();
      }
      expect((await place(orders, anOrder(), 'elsewhere')).status).toBe(201);
    });
  });

  it('refuses an order number under another key, whose key stays free', async () => {
    const body = anOrder();
    await place(orders, body, 'number-1');
    const before = await counts(orders.database);
    const taken = await place(orders, { ...anOrder(), orderNumber: body['orderNumber'] }, 'number-2');
    expect(taken).toMatchObject({
      status: 409,
      json: { code: 'order-number-taken', errors: [{ pointer: '/orderNumber' }] },
    });
    expect(await counts(orders.database)).toEqual(before);
    expect((await place(orders, anOrder(), 'number-2')).status).toBe(201);
  });

  it('gives one order number to one of two that ask at once', async () => {
    const body = anOrder();
    const answers = await Promise.all([place(orders, body), place(orders, body), place(orders, body)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  it('gives each of many at once its own verdict', async () => {
    const taken = anOrder();
    await place(orders, taken, 'many-taken');
    const reused = anOrder();
    await place(orders, reused, 'many-reused');
    const good = Array.from({ length: 30 }, () => anOrder());
    const [again, conflict, other, ...placed] = await Promise.all([
      place(orders, reused, 'many-reused'),
      place(orders, taken),
      place(orders, anOrder(), 'many-reused-2').then(() => place(orders, anOrder(), 'many-reused-2')),
      ...good.map((body) => place(orders, body)),
    ]);
    expect([again?.status, conflict?.status, other?.status]).toEqual([201, 409, 422]);
    expect(placed.map(({ status }) => status)).toEqual(good.map(() => 201));
    expect(placed.map(({ json }) => json['orderNumber'])).toEqual(good.map((body) => body['orderNumber']));
  });

  it('fails only the order that the database chokes on, and leaves nothing of it', async () => {
    await orders.database.transaction((tx) =>
      tx.query(`CREATE FUNCTION choke() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF NEW.order_number = 'POISON' THEN RAISE 'choked'; END IF; RETURN NEW; END $$;
                CREATE TRIGGER choke BEFORE INSERT ON order_event FOR EACH ROW EXECUTE FUNCTION choke();`),
    );
    try {
      const good = Array.from({ length: 15 }, () => anOrder());
      const before = await counts(orders.database);
      const answers = await Promise.all(
        [...good.slice(0, 7), anOrder({ orderNumber: 'POISON' }), ...good.slice(7)].map((body) => place(orders, body)),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map((_, n) => (n === 7 ? 500 : 201)));
      expect(answers[7]?.json).toMatchObject({ code: 'internal' });
      expect(answers[7]?.body).not.toContain('choked');
      const after = await counts(orders.database);
      expect(after).toEqual(Object.fromEntries(Object.entries(before).map(([table, count]) => [table, count + 15])));
      expect(await orders.database.query(`SELECT 1 FROM outbox_message WHERE aggregateid = 'POISON'`)).toEqual([]);
    } finally {
      await orders.database.transaction((tx) => tx.query('DROP TRIGGER choke ON order_event; DROP FUNCTION choke'));
    }
  });

  it('answers nothing before the commit', async () => {
    // The disk is waited for in the commit: a lock that the insert needs stands for it.
    const blocker = await connected(orders);
    const body = anOrder();
    let answered = false;
    try {
      await blocker.query('BEGIN; LOCK TABLE exchange IN EXCLUSIVE MODE');
      const pending = place(orders, body).then((answer) => ((answered = true), answer));
      const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INTO exchange%'`;
      await eventually(async () => (await orders.database.query(waits)).length > 0);
      expect(answered).toBe(false);
      await blocker.query('COMMIT');
      expect((await pending).status).toBe(201);
    } finally {
      await blocker.end();
    }
  });
});
