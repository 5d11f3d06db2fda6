import { accepted, adviceRecord, deliver, goods, type ShipmentsApp, startShipments } from './shipments-app';

const GROWN = 20_000;

describe('a plan that was made while the table of shipments was small', () => {
  let shipments: ShipmentsApp;

  beforeAll(async () => {
    shipments = await startShipments();
    // Statistics would have every plan made again; on a busy system they come when autovacuum gets round to it.
    for (const table of ['shipment', 'exchange']) await run(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
  });
  afterAll(() => shipments.close());

  const run = (sql: string) => shipments.database.dataSource.query<Record<string, string>[]>(sql);
  const walked = async (): Promise<number> => {
    await run('SELECT pg_stat_force_next_flush()');
    const [row] = await run(
      `SELECT sum(seq_tup_read) AS rows FROM pg_stat_user_tables WHERE relname IN ('shipment', 'exchange')`,
    );
    return Number(row?.['rows']);
  };

  it('walks no table that has grown since', async () => {
    const consumer = shipments.consumer();
    let drawn = 0;
    const despatch = async () => {
      const orderNumber = await accepted(shipments, consumer);
      const despatchNumber = `D-${++drawn}`;
      const records = ['1', '2', '3'].map((quantity, index) =>
        adviceRecord({ orderNumber, despatchNumber: `${despatchNumber}-${index}`, lines: goods(quantity) }),
      );
      await deliver(consumer, ...records);
      await deliver(
        consumer,
        adviceRecord({ orderNumber, despatchNumber: `${despatchNumber}-0`, lines: goods('1.0') }),
      );
    };
    // More than five times: from the sixth on PostgreSQL may keep one plan for all values.
    for (let round = 0; round < 12; round++) await despatch();
    await run(
      `INSERT INTO shipment SELECT 'acme', 'G-' || n, 'G-' || n, 3, 'm', 'then', null, null, null, '[]', now() FROM generate_series(1, ${GROWN}) n`,
    );
    await run(
      `INSERT INTO exchange SELECT 'g' || n, 'acme', 'in', 'despatch-advice', 'G-' || n, 'm', null, 'answered', null, 0, now() FROM generate_series(1, ${GROWN}) n`,
    );
    const before = await walked();
    for (let round = 0; round < 3; round++) await despatch();
    expect((await walked()) - before).toBeLessThan(GROWN);
    expect(await run(`SELECT 1 FROM orders WHERE state = 'partly-shipped'`)).toHaveLength(15);
  });
});
