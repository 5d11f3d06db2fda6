import { randomBytes, randomUUID } from 'node:crypto';
import { ChannelCatalog } from '../../../src/messaging/channels';
import { Exchanges } from '../../../src/messaging/exchanges';
import { Outbox } from '../../../src/messaging/outbox';
import { JsonCodec } from '../../../src/messaging/registry';
import { OrderRepository } from '../../../src/orders/order.repository';
import { type Placement, PlacementWriter } from '../../../src/orders/placement-writer';
import { systemClock } from '../../../src/platform/clock';
import { counts, type OrdersApp, startOrders } from './orders-app';

describe('several writers of one database', () => {
  let orders: OrdersApp;

  beforeAll(async () => {
    orders = await startOrders();
  });
  afterAll(() => orders.close());

  const writer = () =>
    new PlacementWriter(
      orders.database,
      new OrderRepository(orders.database),
      new Outbox(new ChannelCatalog(orders.database), new JsonCodec()),
      new Exchanges(),
      systemClock,
    );
  const placement = (orderNumber: string, key: string): Placement => ({
    orderNumber,
    caller: 'c',
    callerName: 'erp',
    key,
    keyLock: randomBytes(8).readBigInt64BE().toString(),
    requestHash: Buffer.alloc(32),
    partner: 'acme',
    currency: 'EUR',
    lines: [{ lineNumber: 1, item: 'A', quantity: '1', unit: 'C62', unitPrice: '1' }],
    linesJson: '[{"lineNumber":1,"item":"A","quantity":"1","unit":"C62","unitPrice":"1"}]',
    contact: undefined,
    contactJson: null,
    messageId: randomUUID(),
    correlationId: randomUUID(),
    traceparent: '',
  });

  it('keep a number given and a number drawn apart in one transaction', async () => {
    const { orderNumber: _, ...unnumbered } = placement('', 'drawn-1');
    const [first] = await writer().write([{ ...unnumbered, orderNumber: undefined }]);
    const last = first?.kind === 'placed' ? Number(first.order.orderNumber.slice(3)) : NaN;
    const next = `PO-${String(last + 1).padStart(9, '0')}`;
    const written = await writer().write([
      placement(next, 'given'),
      { ...placement('', 'drawn-2'), orderNumber: undefined },
    ]);
    const numbers = written.map((result) => (result.kind === 'placed' ? result.order.orderNumber : result.kind));
    expect(numbers).toEqual([next, `PO-${String(last + 2).padStart(9, '0')}`]);
    const rows = await orders.database.query('SELECT 1 FROM outbox_message WHERE aggregateid = ANY(:numbers::text[])', {
      numbers,
    });
    expect(rows).toHaveLength(2);
    await orders.database.transaction((tx) =>
      tx.query('TRUNCATE orders, order_event, exchange, idempotency_key, outbox_message'),
    );
  });

  it('never wait for each other in a ring, and give each contested number to one of them', async () => {
    const deadlocks = async () => {
      await orders.database.query('SELECT pg_stat_force_next_flush()');
      const [row] = await orders.database.query<{ n: number }>(
        `SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()`,
      );
      return row?.n;
    };
    const before = await deadlocks();
    const writers = [writer(), writer(), writer()];
    for (let round = 0; round < 15; round++) {
      const numbers = Array.from({ length: 60 }, (_, n) => `R${round}-${n}`);
      const results = await Promise.all(
        writers.map((one, w) => {
          const mine = w % 2 === 0 ? numbers : numbers.toReversed();
          return one.write(mine.map((number) => placement(number, `${number}-${w}`)));
        }),
      );
      expect(results.flat().filter(({ kind }) => kind === 'placed')).toHaveLength(60);
      expect(results.flat().filter(({ kind }) => kind === 'refused')).toHaveLength(120);
    }
    expect(await deadlocks()).toBe(before);
    expect(await counts(orders.database)).toEqual({ orders: 900, events: 900, exchanges: 900, outbox: 900, keys: 900 });
  });
});
