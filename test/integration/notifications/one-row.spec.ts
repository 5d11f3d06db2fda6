import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { BEGIN } from '../../../src/notifications/sending/attempts';
import { Claims } from '../../../src/notifications/sending/claims';
import type { Database } from '../../../src/platform/database';
import { type CoreStage, openCore } from './core-stage';

/** In the hands of all senders. */
const SENDING = 300;

describe('what is written about one notification', () => {
  let core: CoreStage;
  const ours = { id: randomUUID(), claim: randomUUID() };

  beforeAll(async () => {
    core = await openCore();
    await core.database.dataSource.query('ALTER TABLE notification SET (autovacuum_enabled = off)');
    await core.database.dataSource.query(
      `INSERT INTO notification (id, event_id, kind, channel, provider, address, data, state, happened_at, created_at, next_attempt_at, expires_at)
       SELECT CASE WHEN n = 1 THEN $1::uuid ELSE gen_random_uuid() END, 'e' || n, 'k', 'sms', 'sms', 'a', '{}', 'sent', now(), now(), now(), now() + interval '1 day'
       FROM generate_series(1, 20000) n`,
      [ours.id],
    );
    // What the planner knows it learned in a quiet hour: nothing was being sent.
    await core.database.dataSource.query('ANALYZE notification');
    await core.database.dataSource.query(
      `UPDATE notification SET state = 'sending', claim = CASE WHEN id = $1 THEN $2::uuid ELSE gen_random_uuid() END, lease_until = now() + interval '1 minute'
       WHERE id = $1 OR id IN (SELECT id FROM notification LIMIT $3)`,
      [ours.id, ours.claim, SENDING],
    );
  });
  afterAll(() => core.close());

  const explained = async (sql: string, values: Record<string, unknown>) =>
    (await core.rows<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values)).map((row) => row['QUERY PLAN']).join('\n');

  /** Of the last statement that is asked through it. */
  async function planOf(work: (claims: Claims) => Promise<unknown>): Promise<string> {
    let plan = '';
    const query = async (sql: string, values: Record<string, unknown>) => {
      plan = await explained(sql, values);
      return [];
    };
    await work(new Claims({ query } as unknown as Database));
    return plan;
  }

  it('finds it by its id when an attempt begins, however many are being sent', async () => {
    const values = { ...ours, action: 'send', content: '{}', timeoutMs: 1_000, leaseMs: 10_000, notifier: 'n' };
    const plan = await explained(BEGIN, values);
    expect(plan).toContain('Index Scan using notification_pkey');
    expect(plan).not.toContain('notification_lease');
  });

  it('finds it by its id when it is given back', async () => {
    const plan = await planOf((claims) => claims.giveBack(ours));
    expect(plan).toContain('Index Scan using notification_pkey');
    expect(plan).not.toContain('notification_lease');
  });

  it('finds leases that are over by theirs', async () => {
    expect(await planOf((claims) => claims.recover())).toContain('notification_lease');
  });
});
