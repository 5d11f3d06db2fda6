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

describe('a statement that is a transaction of its own', () => {
  let database: Database;

  beforeAll(async () => {
    const options = dataSourceOptions(testConfig(await freshDatabase(), { DATABASE_POOL_SIZE: '2' }), {
      entities: [],
      migrations: [],
    });
    database = new Database(await new DataSource(options).initialize());
    await database.dataSource.query(
      `CREATE TABLE written (n int); CREATE SEQUENCE tries;
       CREATE FUNCTION refuse_first(code text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
         IF nextval('tries') = 1 THEN RAISE EXCEPTION 'not yet' USING ERRCODE = code; END IF;
         RETURN 1;
       END $$`,
    );
  });
  beforeEach(() => database.dataSource.query(`TRUNCATE written; ALTER SEQUENCE tries RESTART`));
  afterAll(() => database.dataSource.destroy());

  const written = () => database.query<{ n: number }>('SELECT n FROM written ORDER BY n');

  it('writes, answers with its rows, and is parsed once a connection', async () => {
    const add = 'INSERT INTO written SELECT :n::int RETURNING n';
    for (const n of [1, 2, 3]) expect(await database.statement(add, { n })).toEqual([{ n }]);
    expect(await written()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const [prepared] = await database.query<{ runs: number }>(
      `SELECT (generic_plans + custom_plans)::int AS runs FROM pg_prepared_statements WHERE statement LIKE 'INSERT INTO written%'`,
    );
    expect(prepared).toEqual({ runs: 3 });
  });

  it.each(['40001', '40P01'])('is tried again after %s, and leaves its effect once', async (code) => {
    await database.statement('INSERT INTO written VALUES (refuse_first(:code))', { code });
    expect(await written()).toEqual([{ n: 1 }]);
  });

  it('leaves nothing when it fails, and its connection to others', async () => {
    const failing = () => database.statement('INSERT INTO written SELECT 1 / n FROM (VALUES (1), (0)) u (n)');
    for (let n = 0; n < 3; n++) await expect(failing()).rejects.toMatchObject({ code: '22012' });
    expect(await written()).toEqual([]);
  });
});
