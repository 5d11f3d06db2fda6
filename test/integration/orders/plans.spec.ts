import { orderCancellationResponse } from '../../../src/contracts';
import { TestBatch } from '../consumer/harness';
import { anOrder, answerRecord, cancel, consumerOf, type OrdersApp, place, startOrders } from './orders-app';

const TABLES = ['orders', 'order_event', 'exchange', 'idempotency_key', 'inbox', 'parked_key', 'parked_inbound'];
const GROWN = 20_000;

describe('a plan that was made while the tables were small', () => {
  let orders: OrdersApp;
  let consumer: Awaited<ReturnType<typeof consumerOf>>;

  beforeAll(async () => {
    orders = await startOrders();
    consumer = await consumerOf(orders);
    // Statistics would have every plan made again; on a busy system they come when autovacuum gets round to it.
    for (const table of TABLES) await run(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
  });
  afterAll(async () => {
    await consumer.close();
    await orders.close();
  });

  const run = (sql: string) => orders.database.dataSource.query<Record<string, string>[]>(sql);

  /** Rows that were read by walking a whole table, since the database was made. */
  async function walked(): Promise<Map<string, number>> {
    await run('SELECT pg_stat_force_next_flush()');
    const rows = await run(
      `SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE relname IN ('${TABLES.join("','")}')`,
    );
    return new Map(rows.map((row) => [String(row['relname']), Number(row['seq_tup_read'])]));
  }

  /**
   * Orders are placed, and asked for again under their keys and under others; each is answered, and the answers come again;
   * each is cancelled, asked for again under its key, and the partner agrees.
   */
  async function trade(): Promise<void> {
    const bodies = Array.from({ length: 5 }, () => anOrder());
    const keys = bodies.map((body) => `key-${String(body['orderNumber'])}`);
    await Promise.all(bodies.map((body, index) => place(orders, body, keys[index])));
    const again = await Promise.all(bodies.map((body, index) => place(orders, body, keys[index])));
    expect(again.map(({ status }) => status)).toEqual(bodies.map(() => 201));
    const taken = await Promise.all(bodies.map((body) => place(orders, body)));
    expect(taken.map(({ status }) => status)).toEqual(bodies.map(() => 409));
    const events = await orders.database.query<{ orderNumber: string; correlationId: string }>(
      'SELECT order_number AS "orderNumber", correlation_id AS "correlationId" FROM order_event WHERE order_number = ANY(:numbers::text[]) AND version = 1',
      { numbers: bodies.map((body) => body['orderNumber']) },
    );
    const answers = events.map(({ orderNumber, correlationId }) =>
      answerRecord('acme', correlationId, { orderNumber, responseCode: 'AP' }),
    );
    for (let delivery = 0; delivery < 2; delivery++) await consumer.process(new TestBatch(answers));
    const agreed = await Promise.all(
      events.map(async ({ orderNumber }) => {
        const body = { reason: 'r' };
        const twice = [
          await cancel(orders, orderNumber, body, orderNumber),
          await cancel(orders, orderNumber, body, orderNumber),
        ];
        expect(twice.map(({ status }) => status)).toEqual([202, 202]);
        const [row] = await orders.database.query<{ id: string }>(
          `SELECT cancellation ->> 'correlationId' AS id FROM orders WHERE order_number = :orderNumber`,
          { orderNumber },
        );
        return answerRecord('acme', row?.id ?? '', { orderNumber, responseCode: 'AP' }, orderCancellationResponse);
      }),
    );
    await consumer.process(new TestBatch(agreed));
  }

  it('walks no table that has grown since', async () => {
    // More than five times: from the sixth on PostgreSQL may keep one plan for all values.
    for (let round = 0; round < 12; round++) await trade();
    const series = `generate_series(1, ${GROWN}) n`;
    for (const rows of [
      `orders SELECT 'G-' || n, 'acme', 'placed', 1, 'EUR', '[]', null, now(), now(), now() FROM ${series}`,
      `order_event SELECT 'G-' || n, 1, 'placed', now(), 'm', 'c', n, 't', 0, null, null FROM ${series}`,
      `exchange SELECT 'c' || n, 'acme', 'out', 'order-request', 'G-' || n, 'm', n, 'awaiting', now(), 0, now() FROM ${series}`,
      `idempotency_key SELECT 'anonymous', 'g' || n, '\\x00', 'G-' || n, now() FROM ${series}`,
      `inbox SELECT 1, 'g' || n, '\\x00', 0, n, now() FROM ${series}`,
      `parked_key SELECT 1, 'g' || n, now() FROM ${series}`,
    ])
      await run(`INSERT INTO ${rows}`);
    const before = await walked();
    for (let round = 0; round < 3; round++) await trade();
    const after = await walked();
    expect(TABLES.filter((table) => (after.get(table) ?? 0) - (before.get(table) ?? 0) >= GROWN)).toEqual([]);
    expect(await orders.database.query(`SELECT 1 FROM orders WHERE state = 'cancelled'`)).toHaveLength(75);
  });
});
