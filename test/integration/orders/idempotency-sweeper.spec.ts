import { Client } from 'pg';
import { IdempotencySweeper } from '../../../src/orders/idempotency-sweeper';
import { OrderRepository } from '../../../src/orders/order.repository';
import { createLogger } from '../../../src/platform/telemetry';
import { databaseUrl, type OrdersApp, startOrders } from './orders-app';

describe('the sweeper of idempotency keys', () => {
  let orders: OrdersApp;

  beforeAll(async () => {
    orders = await startOrders();
  });
  afterAll(() => orders.close());
  beforeEach(() => orders.database.transaction((tx) => tx.query('DELETE FROM idempotency_key')));

  const now = new Date('2026-02-03T00:00:00Z');
  const sweeper = () =>
    new IdempotencySweeper(
      orders.database,
      new OrderRepository(orders.database),
      { roles: ['api'], idempotencyHours: 24 },
      { now: () => now },
      createLogger('silent', 'test'),
    );
  const add = (count: number, name: string, at: string) =>
    orders.database.transaction((tx) =>
      tx.query(
        `INSERT INTO idempotency_key SELECT 'anonymous', $2 || n, '\\x00', 'n', $3::timestamptz FROM generate_series(1, $1) n`,
        [count, name, at],
      ),
    );
  const left = async () =>
    (await orders.database.query<{ key: string }>('SELECT key FROM idempotency_key ORDER BY key')).map(
      ({ key }) => key,
    );

  it('deletes what is older than the retention, however much, and nothing else', async () => {
    await add(2500, 'old', '2026-02-01T23:59:59.999Z');
    await add(2, 'new', '2026-02-02T00:00:00Z');
    expect(await sweeper().sweep()).toBe(2500);
    expect(await left()).toEqual(['new1', 'new2']);
  });

  it('does not wait for a key that somebody holds', async () => {
    await add(3, 'old', '2026-01-01T00:00:00Z');
    const other = new Client({ connectionString: databaseUrl(orders.database) });
    await other.connect();
    try {
      await other.query(`BEGIN; SELECT 1 FROM idempotency_key WHERE key = 'old2' FOR UPDATE`);
      expect(await sweeper().sweep()).toBe(2);
    } finally {
      await other.end();
    }
    expect(await left()).toEqual(['old2']);
  });

  it('ends with its process, also in the middle of a pause', async () => {
    const one = sweeper();
    one.onApplicationBootstrap();
    const start = performance.now();
    await one.beforeApplicationShutdown();
    // A pause takes half a minute at least.
    expect(performance.now() - start).toBeLessThan(15_000);
  });
});
