import { Exchanges } from '../../../src/messaging/exchanges';
import { PartnerFigures } from '../../../src/orders';
import { query } from '../../../src/platform/database';
import { send } from '../orders/orders-app';
import { type Asked, type DeadlinesApp, HOUR, startDeadlines } from './deadlines-app';

/** A million by hand (CLOSED_EXCHANGES=1000000): what is counted here is the same. */
const CLOSED = Number(process.env['CLOSED_EXCHANGES'] ?? 200_000);

describe('deadlines among many closed exchanges', () => {
  let app: DeadlinesApp;

  beforeAll(async () => {
    app = await startDeadlines();
    const run = (sql: string) => app.database.transaction((tx) => tx.query(sql));
    // No statistics: on a busy system they come when autovacuum gets round to it.
    for (const table of ['exchange', 'orders', 'order_event'])
      await run(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
    for (let from = 1; from < CLOSED; from += CLOSED / 20)
      await run(
        `INSERT INTO exchange (correlation_id, partner, direction, kind, order_number, request_message_id, request_seq, state, deadline, look_at, opened_at, answer_code)
       SELECT 'closed-' || n, '${app.partner}', 'out', 'order-request', 'C-' || n, 'm', n, 'answered', t, t, t - interval '1 hour', 'AP'
       FROM generate_series(${from}, ${from + CLOSED / 20 - 1}) n CROSS JOIN LATERAL (SELECT now() - interval '2 minutes' - (${CLOSED} - n) * interval '2 ms' AS t) d`,
      );
    await run(
      `INSERT INTO orders (order_number, partner, state, version, currency, lines, deadline, created_at, updated_at)
       SELECT 'C-' || n, '${app.partner}', 'accepted', 2, 'EUR', '[]', now(), now() - n * interval '1 ms', now() FROM generate_series(1, 200000) n`,
    );
    await app.database.transaction((tx) =>
      query(tx, `INSERT INTO reply_watch (topic, judged_up_to) VALUES (:topic, now() - interval '1 minute')`, {
        topic: app.topic,
      }),
    );
  });
  afterAll(() => app.close());

  /** Rows of the table that were looked at, by any way, while `work` ran. */
  async function looked(table: string, work: () => Promise<unknown>): Promise<number> {
    const count = async () => {
      await app.database.query('SELECT pg_stat_force_next_flush()');
      const [row] = await app.database.query<{ n: string }>(
        'SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) AS n FROM pg_stat_user_tables WHERE relname = :table',
        { table },
      );
      return Number(row?.n ?? 0);
    };
    const before = await settled(count);
    await work();
    return (await settled(count)) - before;
  }
  /** Statistics of other connections come a moment after their work. */
  async function settled(count: () => Promise<number>): Promise<number> {
    for (let last = await count(), same = 0; ;) {
      await app.database.query('SELECT pg_sleep(0.15)');
      const next = await count();
      same = next === last ? same + 1 : 0;
      if (same >= 3) return next;
      last = next;
    }
  }
  /** Due just now, where the watcher has not been yet. */
  const dueNow = async (): Promise<Asked> => {
    const one = await app.asked();
    await app.database.transaction(async (tx) => {
      const values = [one.correlationId, one.messageId];
      await tx.query(
        `UPDATE exchange SET opened_at = opened_at - interval '1 hour', deadline = now(), look_at = now() WHERE correlation_id = $1`,
        values.slice(0, 1),
      );
      await tx.query(
        `UPDATE outbox_receipt r SET sent_at = sent_at - interval '1 hour' FROM outbox_message m WHERE m.id = $1 AND m.seq = ANY(r.seqs)`,
        values.slice(1),
      );
    });
    return one;
  };

  it.each(['without statistics', 'with statistics'])('cost a pass what is open and due, %s', async (statistics) => {
    if (statistics === 'with statistics') await app.database.query('ANALYZE exchange');
    const watcher = app.watcher();
    // More than five times: from the sixth on PostgreSQL may keep one plan for all values.
    for (let round = 0; round < 7; round++) {
      for (let n = 0; n < 2; n++) await dueNow();
      expect(await watcher.pass()).toMatchObject({ resent: 2 });
    }
    for (let n = 0; n < 2; n++) await dueNow();
    const rows = await looked('exchange', async () => expect(await watcher.pass()).toMatchObject({ resent: 2 }));
    expect(rows).toBeLessThan(500);
    expect(await looked('exchange', () => watcher.pass())).toBeLessThan(500);
  });

  it('cost the figures of partners what is open', async () => {
    await app.database.query('ANALYZE orders');
    const figures = app.app.get(PartnerFigures);
    expect(await looked('exchange', () => figures.read())).toBeLessThan(1000);
    expect(await looked('orders', () => figures.read())).toBeLessThan(100);
  });

  it('leave an index to the list of what is overdue', async () => {
    await app.database.query('ANALYZE orders');
    const one = await dueNow();
    await app.database.transaction((tx) =>
      tx.query(`UPDATE exchange SET resends = 2 WHERE correlation_id = $1`, [one.correlationId]),
    );
    await app.watcher().pass();
    for (const filter of ['overdue=true', `overdue=true&partner=${app.partner}`]) {
      const rows = await looked('orders', async () => {
        const { json } = await send(app, 'GET', `/v1/orders?${filter}`);
        expect((json['items'] as Asked[]).map(({ orderNumber }) => orderNumber)).toEqual([one.orderNumber]);
      });
      expect(rows).toBeLessThan(50);
    }
  });

  it('leave the update by a final answer heap-only, as long as its page has room', async () => {
    const some = [await app.asked(), await app.asked(), await app.asked()];
    const exchanges = app.app.get(Exchanges);
    const updated = await app.database.transaction(async (tx) => {
      const at = new Date();
      await exchanges.answer(
        tx,
        some.map(({ correlationId }) => ({
          ...{ correlationId, partner: app.partner, direction: 'out' as const },
          ...{ state: 'answered' as const, messageId: 'm', code: 'AP', at },
        })),
      );
      const [row] = await query<{ all: number; hot: number }>(
        tx,
        `SELECT pg_stat_get_xact_tuples_updated('exchange'::regclass)::int AS all, pg_stat_get_xact_tuples_hot_updated('exchange'::regclass)::int AS hot`,
      );
      return row;
    });
    expect(updated).toEqual({ all: 3, hot: 3 });
  });

  it('are those of an hour ago in the next pass, too, though nobody passed for an hour', async () => {
    const one = await app.asked();
    await app.age(one, 2 * HOUR);
    await app.database.transaction((tx) =>
      query(tx, `UPDATE reply_watch SET judged_up_to = now() - interval '3 hours' WHERE topic = :topic`, {
        topic: app.topic,
      }),
    );
    expect(await app.watcher().pass()).toMatchObject({ resent: 1 });
    expect(await app.ledger(one)).toMatchObject({ resends: 1 });
  });
});
