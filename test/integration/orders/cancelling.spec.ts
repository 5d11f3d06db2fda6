import { Client } from 'pg';
import { eventually } from '../../support/eventually';
import {
  type Answer,
  anOrder,
  cancel,
  counts,
  databaseUrl,
  type OrdersApp,
  place,
  send,
  startOrders,
} from './orders-app';

describe('asking to cancel an order', () => {
  let orders: OrdersApp;

  beforeAll(async () => {
    orders = await startOrders();
  });
  afterAll(() => orders.close());

  const placed = async (): Promise<string> => String((await place(orders, anOrder())).json['orderNumber']);
  const show = (orderNumber: string) => send(orders, 'GET', `/v1/orders/${orderNumber}`);
  const setState = (orderNumber: string, state: string) =>
    orders.database.transaction((tx) =>
      tx.query('UPDATE orders SET state = $2, version = version + 1 WHERE order_number = $1', [orderNumber, state]),
    );
  const auditOf = (orderNumber: string) =>
    orders.database.query('SELECT action, caller, partner, reason FROM audit_entry WHERE object = :object', {
      object: `order/${orderNumber}`,
    });
  const refused = (answer: Answer) => [answer.status, answer.json['code']];

  it('answers 202 with what was asked and where the order is, which shows it with a new ETag', async () => {
    const orderNumber = await placed();
    const answer = await cancel(orders, orderNumber, { reason: 'bestellt — zweimal 💡' });
    expect(answer.status).toBe(202);
    expect(answer.headers['location']).toBe(`/v1/orders/${orderNumber}`);
    const { requestedAt } = answer.json;
    expect(answer.json).toEqual({ orderNumber, state: 'requested', reason: 'bestellt — zweimal 💡', requestedAt });
    const shown = await show(orderNumber);
    expect(shown.headers['etag']).toBe('"2"');
    expect(shown.json).toMatchObject({ state: 'placed', version: 2, updatedAt: requestedAt });
    expect(shown.json['cancellation']).toEqual({
      state: 'requested',
      reason: 'bestellt — zweimal 💡',
      requestedAt,
      answeredAt: null,
      answerReason: null,
    });
    expect(await auditOf(orderNumber)).toEqual([
      { action: 'order.cancel', caller: orders.key.id, partner: 'acme', reason: 'bestellt — zweimal 💡' },
    ]);
    const changed = await send(orders, 'GET', `/v1/orders/${orderNumber}`, undefined, { 'if-none-match': '"1"' });
    expect(changed.status).toBe(200);
  });

  it('writes its message after the order, under the same key, and an exchange of its own with a deadline', async () => {
    const orderNumber = await placed();
    const wakes = orders.wakes();
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    await send(
      orders,
      'POST',
      `/v1/orders/${orderNumber}/cancellation`,
      { reason: 'r' },
      {
        'idempotency-key': 'rows',
        traceparent: `00-${trace}-00f067aa0ba902b7-01`,
      },
    );
    const messages = await orders.database.query<Record<string, unknown>>(
      `SELECT o.cancellation, m.type, m.topic, m.partition, m.traceparent, m.payload, m.correlationid AS "correlationId", x.kind, x.state, x.partner, x.deadline, x.opened_at AS "openedAt", e.version, e.type AS step
       FROM outbox_message m JOIN exchange x ON x.correlation_id = m.correlationid AND x.request_seq = m.seq AND x.request_message_id = m.id::text
       JOIN order_event e ON e.outbox_seq = m.seq AND e.order_number = m.aggregateid
       JOIN orders o ON o.order_number = m.aggregateid WHERE m.aggregateid = :orderNumber ORDER BY m.seq`,
      { orderNumber },
    );
    expect(messages).toMatchObject([
      { type: 'parley.order-request.v1', kind: 'order-request', version: 1, step: 'placed' },
      {
        type: 'parley.order-cancellation.v1',
        topic: 'orders.acme.request.v1',
        partition: messages[0]?.['partition'],
        kind: 'order-cancellation',
        state: 'awaiting',
        partner: 'acme',
        version: 2,
        step: 'cancellation-requested',
      },
    ]);
    const { payload, traceparent, deadline, openedAt, correlationId, cancellation } = messages[1] ?? {};
    expect(cancellation).toEqual({
      ...{ state: 'requested', correlationId, reason: 'r', answeredAt: null, answerReason: null },
      requestedAt: (openedAt as Date).toISOString(),
    });
    expect(JSON.parse((payload as Buffer).toString())).toMatchObject({ orderNumber, reason: 'r' });
    expect(traceparent).toMatch(new RegExp(`^00-${trace}-`));
    expect((deadline as Date).getTime() - (openedAt as Date).getTime()).toBe(3_600_000);
    expect(orders.wakes()).toBe(wakes + 1);
  });

  it.each(['rejected', 'cancelled', 'partly-shipped', 'shipped'])('is refused when the order is %s', async (state) => {
    const orderNumber = await placed();
    await setState(orderNumber, state);
    const before = await counts(orders.database);
    expect(refused(await cancel(orders, orderNumber))).toEqual([409, 'order-not-cancellable']);
    expect(await counts(orders.database)).toEqual(before);
  });

  it('is refused while an earlier one waits for its answer, and taken again after a refusal', async () => {
    const orderNumber = await placed();
    expect((await cancel(orders, orderNumber)).status).toBe(202);
    expect(refused(await cancel(orders, orderNumber))).toEqual([409, 'cancellation-pending']);
    await orders.database.transaction((tx) =>
      tx.query(`UPDATE orders SET cancellation = cancellation || '{"state": "refused"}' WHERE order_number = $1`, [
        orderNumber,
      ]),
    );
    expect((await cancel(orders, orderNumber, { reason: 'please' })).status).toBe(202);
    expect((await show(orderNumber)).json).toMatchObject({
      version: 3,
      cancellation: { state: 'requested', reason: 'please' },
    });
  });

  it('is refused for an order that is not there, whatever its number looks like', async () => {
    expect(refused(await cancel(orders, 'nobody-has-this'))).toEqual([404, 'order-unknown']);
    expect(refused(await cancel(orders, '%00'))).toEqual([404, 'order-unknown']);
  });

  it.each<[string, unknown]>([
    ['no reason', {}],
    ['an empty reason', { reason: '' }],
    ['a blank reason', { reason: '   ' }],
    ['a reason of 2001 characters', { reason: 'x'.repeat(2001) }],
    ['a reason that is a number', { reason: 7 }],
    ['a reason that is null', { reason: null }],
    ['a reason with a line break', { reason: 'a\nb' }],
    ['a reason with NUL', { reason: 'a\0b' }],
    ['a reason with half a surrogate pair', { reason: 'a\ud83d' }],
    ['a member that is not known', { reason: 'r', force: true }],
  ])('is refused with %s', async (_, body) => {
    const orderNumber = await placed();
    const before = await counts(orders.database);
    const answer = await cancel(orders, orderNumber, body);
    expect(refused(answer)).toEqual([400, 'request-invalid']);
    expect(await counts(orders.database)).toEqual(before);
  });

  it('takes a reason of 2000 characters of four bytes', async () => {
    const reason = '💡'.repeat(2000);
    expect((await cancel(orders, await placed(), { reason })).json).toMatchObject({ reason });
  });

  it.each([{}, { 'idempotency-key': '' }, { 'idempotency-key': 'a b' }])(
    'needs an Idempotency-Key: %j',
    async (headers) => {
      const url = `/v1/orders/${await placed()}/cancellation`;
      const answer = await send(orders, 'POST', url, { reason: 'r' }, headers as Record<string, string>);
      expect(refused(answer)).toEqual([400, 'idempotency-key-missing']);
    },
  );

  describe('with an Idempotency-Key that was used', () => {
    it('tells the first answer again, whatever has become of the order since', async () => {
      const orderNumber = await placed();
      const first = await cancel(orders, orderNumber, { reason: 'r' }, 'again');
      await setState(orderNumber, 'cancelled');
      const before = await counts(orders.database);
      const second = await cancel(orders, orderNumber, { reason: 'r' }, 'again');
      expect([second.status, second.body, second.headers['location']]).toEqual([
        202,
        first.body,
        first.headers['location'],
      ]);
      expect(await auditOf(orderNumber)).toHaveLength(1);
      expect(await counts(orders.database)).toEqual(before);
    });

    it('refuses another reason, another order and the placing of an order', async () => {
      const [one, other] = [await placed(), await placed()];
      await cancel(orders, one, { reason: 'r' }, 'taken');
      const reused = [422, 'idempotency-key-reused'];
      expect(refused(await cancel(orders, one, { reason: 's' }, 'taken'))).toEqual(reused);
      expect(refused(await cancel(orders, other, { reason: 'r' }, 'taken'))).toEqual(reused);
      expect(refused(await place(orders, anOrder(), 'taken'))).toEqual(reused);
      await place(orders, anOrder(), 'placed-by');
      expect(refused(await cancel(orders, other, { reason: 'r' }, 'placed-by'))).toEqual(reused);
    });

    it('may be used again after a refusal', async () => {
      const orderNumber = await placed();
      await setState(orderNumber, 'rejected');
      expect((await cancel(orders, orderNumber, { reason: 'r' }, 'free')).status).toBe(409);
      await setState(orderNumber, 'accepted');
      expect((await cancel(orders, orderNumber, { reason: 'r' }, 'free')).status).toBe(202);
    });
  });

  describe('at the same moment as others', () => {
    it('is taken once of many with different keys', async () => {
      const orderNumber = await placed();
      const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(orders, orderNumber)));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([202, ...Array<number>(7).fill(409)]);
      expect((await show(orderNumber)).json['version']).toBe(2);
    });

    it('is written once for many with the same key', async () => {
      const orderNumber = await placed();
      const before = await counts(orders.database);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => cancel(orders, orderNumber, { reason: 'r' }, 'at-once')),
      );
      const codes = new Set(answers.map(({ status, json }) => (status === 202 ? 202 : json['code'])));
      expect(codes).toContain(202);
      codes.delete(202);
      codes.delete('idempotency-key-in-progress');
      expect([...codes]).toEqual([]);
      expect(await counts(orders.database)).toEqual({
        ...before,
        events: Number(before['events']) + 1,
        exchanges: Number(before['exchanges']) + 1,
        outbox: Number(before['outbox']) + 1,
        keys: Number(before['keys']) + 1,
      });
    });

    it('waits for the answer that is being applied, and decides on what it left', async () => {
      const orderNumber = await placed();
      const other = new Client({ connectionString: databaseUrl(orders.database) });
      await other.connect();
      try {
        await other.query('BEGIN');
        await other.query(`UPDATE orders SET state = 'rejected', version = 2 WHERE order_number = $1`, [orderNumber]);
        const asked = cancel(orders, orderNumber);
        const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        await eventually(async () => (await other.query(waiting)).rowCount === 1, { what: 'it waits for the order' });
        await other.query('COMMIT');
        expect(refused(await asked)).toEqual([409, 'order-not-cancellable']);
        expect((await show(orderNumber)).json).toMatchObject({ state: 'rejected', version: 2, cancellation: null });
      } finally {
        await other.end();
      }
    });
  });
});
