import { OrderRepository } from '../../../src/orders/order.repository';
import { eventually } from '../../support/eventually';
import { type OrdersApp, startOrders } from './orders-app';

describe('locking the orders of a batch of answers', () => {
  let orders: OrdersApp;

  beforeAll(async () => {
    orders = await startOrders();
  });
  afterAll(() => orders.close());

  it('walks the primary key alone, however many orders the partner has and without statistics', async () => {
    const { database } = orders;
    const repository = new OrderRepository(database);
    await database.transaction((tx) =>
      tx.query(`ALTER TABLE orders SET (autovacuum_enabled = off);
        INSERT INTO orders (order_number, partner, state, version, currency, lines, deadline, created_at, updated_at)
        SELECT 'L-' || n, 'acme', 'placed', 1, 'EUR', '[]', now(), now() + n * interval '1 ms', now() FROM generate_series(1, 20000) n`),
    );
    const numbers = Array.from({ length: 100 }, (_, index) => `L-${19_000 + index}`);
    // More than five times, so that the plan for any values is tried too.
    for (let round = 1; round <= 10; round++) {
      const locked = await database.transaction((tx) => repository.lock(tx, 'acme', numbers, []));
      expect(locked).toHaveLength(100);
    }
    const scans = async (index: string) => {
      const [row] = await database.query<{ scans: number }>(
        `SELECT idx_scan::int AS scans FROM pg_stat_user_indexes WHERE indexrelname = :index`,
        { index },
      );
      return row?.scans ?? 0;
    };
    await eventually(async () => (await scans('orders_pkey')) >= 10, { what: 'the statistics of the scans' });
    expect(await scans('orders_partner_created')).toBe(0);
  });
});
