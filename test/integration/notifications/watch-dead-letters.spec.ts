import { Notifications } from '../../../src/notifications';
import { DeadLetterWatch } from '../../../src/notifications/watch/dead-letter-watch';
import { PartnerWatchRepository } from '../../../src/notifications/watch/partner-watch.repository';
import { Partners } from '../../../src/partners';
import { ifFree, query } from '../../../src/platform/database';
import { eventually } from '../../support/eventually';
import { STORM_PAUSE_MS } from '../../../src/notifications/watch/domain/dead-letters-due';
import { notificationsOfKind, subscribe } from '../../support/receivers';
import { countLockWaiters } from '../../support/lock-waiters';
import { HOUR, WatchApp } from './watch-app';

describe('open dead letters', () => {
  let watch: WatchApp;

  beforeEach(async () => {
    watch = await WatchApp.start();
  });
  afterEach(() => watch.orders.close());

  const dies = (partner: string, code: string, hoursAgo = 0) => watch.die([{ partner, code }], hoursAgo);
  const open = () => watch.told('dead-letters-open');
  const resolve = () => watch.write(`UPDATE parked_inbound SET state = 'discarded', resolved_at = now()`);

  const alone = (id: string, count: number) => ({ partnerCount: 1, partners: [{ id, name: id, count }] });

  it('are told for each partner, with how many and why', async () => {
    await dies('acme', 'order-unknown', 2);
    for (const code of ['order-unknown', 'invalid', 'a', 'b']) await dies('acme', code);
    await dies('umbra', 'invalid');
    await watch.look();
    const since = new Date(watch.now.getTime() - 2 * HOUR).toISOString();
    const causes = [
      { code: 'order-unknown', count: 2 },
      { code: 'a', count: 1 },
      { code: 'b', count: 1 },
    ];
    expect((await open()).toSorted((a, b) => Number(b['count']) - Number(a['count']))).toEqual([
      {
        partner: { id: 'acme', name: 'acme' },
        at: watch.now.toISOString(),
        count: 5,
        since,
        causes,
        ...alone('acme', 5),
      },
      {
        partner: { id: 'umbra', name: 'umbra' },
        at: watch.now.toISOString(),
        count: 1,
        since: watch.now.toISOString(),
        causes: [{ code: 'invalid', count: 1 }],
        ...alone('umbra', 1),
      },
    ]);
  });

  it('are those that we could not send, too', async () => {
    await dies('acme', 'invalid');
    await watch.write(
      `INSERT INTO parked_outbound (seq, topic, partition, key, message_id, state, code, parked_at)
       SELECT n, 'orders.acme.request.v1', 0, 'k', gen_random_uuid(), CASE n WHEN 1 THEN 'held' ELSE 'dead' END, 'record-too-large', :now FROM generate_series(1, 3) n`,
      { now: watch.now },
    );
    await watch.look();
    const causes = [
      { code: 'record-too-large', count: 2 },
      { code: 'invalid', count: 1 },
    ];
    expect(await open()).toMatchObject([{ partner: { id: 'acme' }, count: 3, causes }]);
  });

  it('are told once an hour at most while more die, and once a day while none does', async () => {
    await dies('acme', 'invalid');
    await watch.look();
    for (let minute = 1; minute < 60; minute += 7) {
      watch.pass(7 / 60);
      await dies('acme', 'invalid');
      await watch.look();
    }
    expect((await open()).map(({ count }) => count)).toEqual([1, 10]);
    for (let hour = 0; hour < 23; hour++) await watch.look(1);
    expect((await open()).map(({ count }) => count)).toEqual([1, 10]);
    await watch.look(1);
    expect((await open()).map(({ count }) => count)).toEqual([1, 10, 10]);
  });

  it('are not told again when the newest are dealt with, nor when all are; the next one is told', async () => {
    await dies('acme', 'invalid', 30);
    await dies('acme', 'invalid');
    await watch.look();
    await watch.write(`DELETE FROM parked_inbound WHERE last_failed_at = :now`, { now: watch.now });
    await watch.look(2);
    await resolve();
    await watch.look(48);
    expect(await open()).toHaveLength(1);
    await dies('acme', 'invalid');
    await watch.look();
    expect(await open()).toHaveLength(2);
  });

  it('are told by one of several processes that have seen the same', async () => {
    await dies('acme', 'invalid');
    await watch.look();
    watch.pass(1);
    await dies('acme', 'invalid');
    const { database, app } = watch.orders;
    const repository = new PartnerWatchRepository(database);
    // Without the lock that keeps them apart: its connection may be lost while its process goes on.
    const several = [1, 2, 3].map(
      () => new DeadLetterWatch(database, repository, app.get(Partners), app.get(Notifications)),
    );
    let looks: Promise<unknown> = Promise.resolve();
    await database.transaction(async (tx) => {
      await query(tx, 'SELECT 1 FROM partner_watch FOR UPDATE');
      looks = Promise.all(several.map((one, n) => one.look(new Date(watch.now.getTime() + n))));
      await eventually(async () => (await countLockWaiters(database)) === 3, { what: 'all of them wait' });
    });
    await looks;
    expect(await open()).toHaveLength(2);
  });
});

describe('open dead letters of many partners', () => {
  let watch: WatchApp;

  beforeEach(async () => {
    watch = await WatchApp.start();
  });
  afterEach(() => watch.orders.close());

  /** A letter of each partner from `p<from>` to `p<to>`, and another one of the last. */
  const die = (from: number, to: number) =>
    watch.die(
      Array.from({ length: to - from + 2 }, (_, n) => ({
        partner: `p${Math.min(from + n, to)}`,
        code: n % 3 === 0 ? 'invalid' : 'order-unknown',
      })),
    );
  const told = () => notificationsOfKind(watch.orders.database, 'dead-letters-open');

  it('are told in one notification, to each receiver those that concern it', async () => {
    const { database } = watch.orders;
    await subscribe(database, { id: 'two', kinds: ['dead-letters-open'], partners: ['p101', 'p399', 'other'] });
    await subscribe(database, { id: 'one', kinds: ['dead-letters-open'], channels: ['sms'], partners: ['p250'] });
    await subscribe(database, { id: 'none', kinds: ['dead-letters-open'], partners: ['other'] });
    await die(100, 399);
    await watch.look();
    const made = await told();
    expect(made).toHaveLength(3);
    const byReceiver = new Map(made.map((one) => [one.receiver, one]));
    const at = watch.now.toISOString();
    expect(byReceiver.get('ops-desk')).toMatchObject({
      partner: null,
      eventId: `dead-letters/p100/${at}`,
      data: {
        at,
        count: 301,
        since: at,
        causes: [
          { code: 'order-unknown', count: 200 },
          { code: 'invalid', count: 101 },
        ],
        partnerCount: 300,
        partners: [
          { id: 'p399', name: 'p399', count: 2 },
          { id: 'p100' },
          ...Array.from({ length: 8 }, () => ({ count: 1 })),
        ],
      },
    });
    expect(byReceiver.get('ops-desk')?.data).not.toHaveProperty('partner');
    expect(byReceiver.get('two')?.data).toMatchObject({
      count: 3,
      partnerCount: 2,
      partners: [
        { id: 'p399', count: 2 },
        { id: 'p101', count: 1 },
      ],
    });
    expect(byReceiver.get('one')).toMatchObject({
      channel: 'sms',
      partner: 'p250',
      data: { partner: { id: 'p250' }, count: 1 },
    });
  });

  it('are told once in five minutes while more partners are hit, and each partner once an hour', async () => {
    await die(100, 102);
    await watch.look();
    expect((await told()).map(({ partner }) => partner)).toEqual(['p100', 'p101', 'p102']);
    for (let minute = 1; minute < 60; minute++) {
      watch.pass(1 / 60);
      await die(100 + 3 * minute, 102 + 3 * minute);
      await watch.look();
    }
    const storm = (await told()).slice(3).map(({ data }) => data['partnerCount']);
    // Of 59 minutes the first five, and so on.
    expect(storm).toEqual(Array.from({ length: 11 }, () => 15));
    watch.pass(STORM_PAUSE_MS / HOUR);
    await watch.look();
    // Those of the last minutes; nothing has died since of those that were told an hour ago.
    expect((await told()).at(-1)?.data).toMatchObject({ partnerCount: 12 });
  });

  it('are told by one of several processes that have seen the same, each partner once', async () => {
    await die(100, 139);
    const { database, app } = watch.orders;
    const repository = new PartnerWatchRepository(database);
    const several = [1, 2, 3].map(
      () => new DeadLetterWatch(database, repository, app.get(Partners), app.get(Notifications)),
    );
    await watch.write('INSERT INTO partner_watch (partner, watched_since, heard_up_to) VALUES (:p, :now, :now)', {
      p: 'p120',
      now: watch.now,
    });
    let looks: Promise<unknown> = Promise.resolve();
    await database.transaction(async (tx) => {
      // Another process has told of this one, and not committed.
      await query(tx, `UPDATE partner_watch SET dead_told_at = :now, dead_newest_at = :now WHERE partner = 'p120'`, {
        now: watch.now,
      });
      looks = Promise.all(several.map((one) => one.look(watch.now)));
      await eventually(async () => (await countLockWaiters(database)) === 3, { what: 'all of them wait' });
    });
    await looks;
    expect((await told()).map(({ data }) => data['partnerCount'])).toEqual([39]);
  });
});

describe('watching', () => {
  let watch: WatchApp;

  beforeAll(async () => {
    watch = await WatchApp.start();
  });
  afterAll(() => watch.orders.close());

  it('is done by one of them at a time', async () => {
    await ifFree(watch.orders.database, 'watch/partner-silent', async () => {
      await watch.look();
      expect(await watch.orders.database.query('SELECT 1 FROM partner_watch')).toEqual([]);
    });
    await watch.look();
    expect(await watch.orders.database.query('SELECT 1 FROM partner_watch')).toHaveLength(2);
  });

  it('goes on when one of the watchers fails, and says so once', async () => {
    await watch.write('ALTER TABLE partner_watch RENAME COLUMN heard_up_to TO away');
    const one = watch.watchers();
    await one.look();
    await one.look();
    await watch.write('ALTER TABLE partner_watch RENAME COLUMN away TO heard_up_to');
    expect(watch.lines.filter(({ watch }) => watch === 'partner-silent')).toHaveLength(1);
    await one.look();
    expect(watch.lines).toHaveLength(1);
  });
});
