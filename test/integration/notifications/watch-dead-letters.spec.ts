import { Notifications } from '../../../src/notifications';
import { DeadLetterWatch } from '../../../src/notifications/watch/dead-letter-watch';
import { PartnerWatchRepository } from '../../../src/notifications/watch/partner-watch.repository';
import { Partners } from '../../../src/partners';
import { ifFree, query } from '../../../src/platform/database';
import { eventually } from '../../support/eventually';
import { HOUR, WatchApp } from './watch-app';

describe('open dead letters', () => {
  let watch: WatchApp;

  beforeEach(async () => {
    watch = await WatchApp.start();
  });
  afterEach(() => watch.orders.close());

  let letters = 0;
  const dies = async (partner: string, code: string, hoursAgo = 0) => {
    const at = new Date(watch.now.getTime() - hoursAgo * HOUR);
    await watch.write(
      `INSERT INTO parked_inbound (partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, type, header_names, header_values, raw_value, code, fingerprint,
         parked_at, first_failed_at, last_failed_at)
       VALUES (:partner, 'k', 'dead', 1, :id, 't', 0, 1, :at, 'type', '{}', '{}', 'x', :code, :code, :at, :at, :at)`,
      { partner, code, at, id: `letter-${++letters}` },
    );
  };
  const open = () => watch.told('dead-letters-open');
  const resolve = () => watch.write(`UPDATE parked_inbound SET state = 'discarded', resolved_at = now()`);

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
      { partner: { id: 'acme', name: 'acme' }, at: watch.now.toISOString(), count: 5, since, causes },
      {
        partner: { id: 'umbra', name: 'umbra' },
        at: watch.now.toISOString(),
        count: 1,
        since: watch.now.toISOString(),
        causes: [{ code: 'invalid', count: 1 }],
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
      await eventually(
        async () =>
          (
            await database.query(
              `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
            )
          ).length === 3,
        { what: 'all of them wait' },
      );
    });
    await looks;
    expect(await open()).toHaveLength(2);
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
