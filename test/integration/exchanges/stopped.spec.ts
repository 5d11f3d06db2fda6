import { systemClock } from '../../../src/platform/clock';
import { PartnerStates } from '../../../src/partners/state/partner-states';
import type { StateVerb } from '../../../src/partners/state/state-change';
import { eventually } from '../../support/eventually';
import { hold } from '../../support/faults';
import { countLockWaiters } from '../../support/lock-waiters';
import { databaseUrl } from '../orders/orders-app';
import { type DeadlinesApp, expectIn, HOUR, startDeadlines } from './deadlines-app';

const BY = { id: 'key_1', name: 'test', role: 'operator', areas: null, partners: null, origin: 'test' } as const;

describe('deadlines of a partner that is stopped', () => {
  let app: DeadlinesApp;

  beforeAll(async () => {
    app = await startDeadlines();
  });
  afterAll(() => app.close());
  afterEach(() => change('resume').catch(() => undefined));

  const change = (verb: StateVerb) =>
    new PartnerStates(app.database, systemClock).change({
      ...{ partner: app.partner, verb, reason: 'it moves its data centre', seen: undefined, by: BY },
    });
  /** The last stop lasted so much longer. */
  const stoppedFor = (ms: number) =>
    app.database.transaction((tx) =>
      tx.query(`UPDATE partner_stop SET stopped_at = stopped_at - $1 * interval '1 ms' WHERE resumed_at IS NULL`, [ms]),
    );

  it.each(['pause', 'suspend'] as const)('do not pass after a %s, and are judged when it is resumed', async (verb) => {
    const one = await app.late();
    await change(verb);
    expect(await app.watcher().pass()).toEqual({ resent: 0, overdue: 0 });
    expect(await app.ledger(one)).toMatchObject({ state: 'awaiting', resends: 0 });
    await change('resume');
    expect(await app.watcher().pass()).toEqual({ resent: 1, overdue: 0 });
  });

  it('are later by the time of the stop where they would have passed meanwhile', async () => {
    const one = await app.late();
    await change('pause');
    await stoppedFor(10 * 60_000);
    await change('resume');
    expect(await app.watcher().pass()).toEqual({ resent: 0, overdue: 0 });
    const { deadline, state } = await app.ledger(one);
    expect(state).toBe('awaiting');
    // It was due a minute ago, nine minutes after the stop began.
    expectIn(deadline, 9 * 60_000);
    await app.age(one, 10 * 60_000);
    await app.database.transaction((tx) => tx.query('DELETE FROM partner_stop'));
    expect(await app.watcher().pass()).toEqual({ resent: 1, overdue: 0 });
  });

  it('begin when a request that waited meanwhile is sent', async () => {
    const one = await app.asked();
    await app.database.transaction((tx) => tx.query('DELETE FROM outbox_receipt'));
    await change('suspend');
    await app.age(one, HOUR + 60_000);
    await change('resume');
    await app.publish(one.messageId, HOUR + 50_000);
    expect(await app.watcher().pass()).toEqual({ resent: 0, overdue: 0 });
    const { deadline } = await app.ledger(one);
    expect(deadline.getTime()).toBeGreaterThan(Date.now() + HOUR / 2);
  });

  it('find the answer that came meanwhile, and was kept', async () => {
    const one = await app.late();
    await change('suspend');
    await app.answer(one, 'AP');
    expect(await app.show(one)).toMatchObject({ state: 'placed' });
    await change('resume');
    expect(await app.watcher().pass()).toEqual({ resent: 0, overdue: 0 });
    expect(await app.ledger(one)).toMatchObject({ state: 'awaiting', resends: 0 });
  });

  it('that are being judged are judged before the stop', async () => {
    const one = await app.late();
    const open = await hold(databaseUrl(app.database), 'SELECT 1 FROM orders WHERE order_number = $1 FOR UPDATE', [
      one.orderNumber,
    ]);
    const watching = app.watcher().pass();
    await waiters(1);
    const stopping = change('suspend');
    await waiters(2);
    await open();
    expect(await watching).toEqual({ resent: 1, overdue: 0 });
    await stopping;
    expect(await app.ledger(one)).toMatchObject({ resends: 1 });
  });

  const waiters = (count: number) =>
    eventually(async () => (await countLockWaiters(app.database)) >= count, {
      what: `${count} transactions wait for a lock`,
    });
});
