import { eventually } from '../../support/eventually';
import { hold } from '../../support/faults';
import { countLockWaiters } from '../../support/lock-waiters';
import { databaseUrl } from '../orders/orders-app';
import { type DeadlinesApp, startDeadlines } from './deadlines-app';

describe('a deadline and an answer at the same time', () => {
  let app: DeadlinesApp;

  beforeAll(async () => {
    app = await startDeadlines();
  });
  afterAll(() => app.close());

  const waiters = async (count: number) =>
    eventually(async () => (await countLockWaiters(app.database)) >= count, {
      what: `${count} transactions wait for a lock`,
    });
  /** Writes of this table wait until the test lets go. */
  const gate = async (table: string) => {
    await app.database.transaction((tx) =>
      tx.query(`CREATE OR REPLACE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(30); RETURN NULL; END $$;
        CREATE OR REPLACE TRIGGER gate AFTER UPDATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION gate()`),
    );
    return hold(databaseUrl(app.database), 'SELECT pg_advisory_xact_lock(30)');
  };
  afterEach(() => app.database.transaction((tx) => tx.query('DROP TRIGGER IF EXISTS gate ON exchange')));

  it('have one winner when the answer was first: nothing is sent again', async () => {
    const one = await app.late();
    const open = await gate('exchange');
    const answering = app.answer(one, 'AP');
    await waiters(1);
    const watching = app.watcher().pass();
    await waiters(2);
    await open();
    await answering;
    expect(await watching).toEqual({ resent: 0, overdue: 0 });
    expect(await app.ledger(one)).toMatchObject({ state: 'answered', resends: 0 });
    expect(await app.requests(one)).toHaveLength(1);
    expect(await app.show(one)).toMatchObject({ state: 'accepted', version: 2 });
  });

  it('have one winner when the watcher was first: it is overdue, then answered late', async () => {
    const one = await app.late();
    await app.database.transaction((tx) =>
      tx.query('UPDATE exchange SET resends = 2 WHERE correlation_id = $1', [one.correlationId]),
    );
    const open = await gate('exchange');
    const watching = app.watcher().pass();
    await waiters(1);
    const answering = app.answer(one, 'AP');
    await waiters(2);
    await open();
    expect(await watching).toEqual({ resent: 0, overdue: 1 });
    await answering;
    expect(await app.ledger(one)).toMatchObject({ state: 'answered-late' });
    expect(await app.show(one)).toMatchObject({ state: 'accepted', version: 3, overdueSince: null });
  });

  it('are dealt with once though several watchers look at once', async () => {
    const one = await app.late();
    const open = await hold(databaseUrl(app.database), 'SELECT 1 FROM orders WHERE order_number = $1 FOR UPDATE', [
      one.orderNumber,
    ]);
    const passes = [app.watcher().pass(), app.watcher().pass(), app.watcher().pass()];
    await waiters(3);
    await open();
    const resent = (await Promise.all(passes)).reduce((sum, pass) => sum + pass.resent, 0);
    expect(resent).toBe(1);
    expect(await app.ledger(one)).toMatchObject({ resends: 1 });
    expect(await app.requests(one)).toHaveLength(2);
  });
});
