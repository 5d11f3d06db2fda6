import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { Database, dataSourceOptions, query, type Tx } from '../../../src/platform/database';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';

describe('transactions', () => {
  let database: Database;

  const connect = async (url: string) =>
    new Database(
      await new DataSource(dataSourceOptions(testConfig(url), { entities: [], migrations: [] })).initialize(),
    );

  beforeAll(async () => {
    const url = await freshDatabase();
    const first = await connect(url);
    const name = new URL(url).pathname.slice(1);
    await first.dataSource.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
    await first.dataSource.destroy();
    database = await connect(url);
  });
  afterAll(() => database.dataSource.destroy());

  it("run at READ COMMITTED, whatever the database's default", async () => {
    const rows = await database.transaction((tx) =>
      query<{ level: string }>(tx, `SELECT current_setting('transaction_isolation') AS level`),
    );
    expect(rows).toEqual([{ level: 'read committed' }]);
  });

  it('have a statement parsed once a connection', async () => {
    const text = 'SELECT :n::int + 1 AS next';
    const plans = await database.transaction(async (tx) => {
      for (const n of [1, 2, 3]) expect(await query(tx, text, { n })).toEqual([{ next: n + 1 }]);
      return query(
        tx,
        `SELECT (generic_plans + custom_plans)::int AS runs FROM pg_prepared_statements WHERE statement = 'SELECT $1::int + 1 AS next'`,
      );
    });
    expect(plans).toEqual([{ runs: 3 }]);
  });

  it('carry arrays of texts, numbers, times, bytes and nulls as they are', async () => {
    const texts = ['', 'a,b', '{"a": "\\\\ \\""}', 'NULL', null, "'", 'ä\n\t', '{', ' x '];
    const numbers = [1, -2.5, 1e21, null];
    const large = [9_007_199_254_740_993n, -1n];
    const times = [new Date('2026-11-29T21:34:59.120Z'), null];
    const bytes = [Buffer.from([0, 255, 34, 92]), Buffer.alloc(0), null];
    const [row] = await database.transaction((tx) =>
      query(
        tx,
        'SELECT :texts::text[] AS texts, :numbers::float8[] AS numbers, :large::bigint[] AS large, :times::timestamptz[] AS times, :bytes::bytea[] AS bytes, :none::text[] AS none',
        { texts, numbers, large, times, bytes, none: [] },
      ),
    );
    expect(row).toEqual({ texts, numbers, large: large.map(String), times, bytes, none: [] });
  });

  it('are tried again after a deadlock, and leave their effect once', async () => {
    await database.dataSource.query(
      'CREATE TABLE pair (id int PRIMARY KEY, n int); INSERT INTO pair VALUES (1, 0), (2, 0)',
    );
    const both = Promise.withResolvers<void>();
    let begun = 0;
    const add = (...ids: number[]) =>
      database.transaction(async (tx) => {
        for (const id of ids) {
          await query(tx, 'UPDATE pair SET n = n + 1 WHERE id = :id', { id });
          if (++begun === 2) both.resolve();
          await both.promise;
        }
      });
    await Promise.all([add(1, 2), add(2, 1)]);
    expect(begun).toBeGreaterThan(4);
    expect(await database.query('SELECT n FROM pair')).toEqual([{ n: 2 }, { n: 2 }]);
  });

  it('refuse statements once they are over', async () => {
    let kept: Tx | undefined;
    await database.transaction((tx) => Promise.resolve((kept = tx)));
    await expect(query(kept as Tx, 'SELECT 1')).rejects.toThrow('already released');
  });
});
