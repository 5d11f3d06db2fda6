import 'reflect-metadata';
import { type CoreStage, message, NOW, openCore, retention } from './core-stage';

const DAY = 86_400_000;
const days = (count: number) => new Date(NOW.getTime() + count * DAY);

describe('retention', () => {
  let core: CoreStage;

  beforeAll(async () => {
    core = await openCore();
  });
  afterAll(() => core.close());
  const change = (sql: string, values: unknown[] = []) => core.database.transaction((tx) => tx.query(sql, values));
  beforeEach(() => change('DELETE FROM notification'));

  /** So many, each with two attempts. */
  const add = async (count: number, state: string, settledAt: Date | null, createdAt = days(-300)) => {
    await change(
      `WITH made AS (INSERT INTO notification (id, event_id, kind, channel, provider, address, data, state, happened_at, created_at, next_attempt_at, expires_at, settled_at)
         SELECT gen_random_uuid(), $2 || n, 'k', 'email', 'email', 'a', '{}', $2, now(), $4, now(), now(), $3 FROM generate_series(1, $1) n RETURNING id)
       INSERT INTO notification_attempt (notification_id, number, action, begun_at, notifier)
       SELECT id, n, 'send', now(), 'x' FROM made, generate_series(1, 2) n`,
      [count, state, settledAt, createdAt],
    );
  };
  const left = async () => {
    const rows = await core.rows<{ state: string; count: number }>(
      'SELECT state, count(*)::int AS count FROM notification GROUP BY state ORDER BY state',
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  };
  const attempts = async () => (await core.rows('SELECT 1 FROM notification_attempt')).length;

  it('deletes what was settled long ago with its attempts, however much, and nothing that is open, however old', async () => {
    await add(2500, 'sent', days(-31));
    for (const state of ['failed', 'cancelled', 'expired']) await add(1, state, days(-31));
    for (const state of ['pending', 'sending', 'unknown']) await add(2, state, null);
    // One that had a time once must not go for it.
    await add(1, 'unknown', days(-200));
    expect(await retention(core, NOW).pass()).toMatchObject({ deleted: 2503 });
    expect(await left()).toEqual({ pending: 2, sending: 2, unknown: 3 });
    expect(await attempts()).toBe(14);
  });

  it('counts from when it was settled, not from when it was made', async () => {
    await add(1, 'sent', days(-30));
    await add(1, 'failed', new Date(days(-30).getTime() - 1));
    expect(await retention(core, NOW).pass()).toMatchObject({ deleted: 1 });
    expect(await left()).toEqual({ sent: 1 });
  });

  it('forgets that an address was refused when as much time has passed', async () => {
    await change(
      `INSERT INTO notification_bad_address VALUES ('sms', 'old', 'x', 'x', $1), ('sms', 'young', 'x', 'x', $2)`,
      [new Date(days(-30).getTime() - 1), days(-30)],
    );
    await retention(core, NOW).pass();
    expect(await core.rows('SELECT address FROM notification_bad_address')).toEqual([{ address: 'young' }]);
  });

  it('waits for no row that somebody holds, and takes it with the next pass', async () => {
    await add(3, 'sent', days(-31));
    const letGo = await core.hold(`SELECT 1 FROM notification WHERE event_id = 'sent2' FOR UPDATE`);
    expect(await retention(core, NOW).pass()).toMatchObject({ deleted: 2 });
    await letGo();
    expect(await retention(core, NOW).pass()).toMatchObject({ deleted: 1 });
  });

  it('lets an event be told again that it has forgotten, as a new notification', async () => {
    const ask = (hash: string) =>
      core.database.transaction((tx) => core.notifications.request(tx, [message('a', hash)], NOW));
    expect(await ask('aa')).toEqual([{ outcome: 'made' }]);
    await change(`UPDATE notification SET state = 'sent', settled_at = $1, created_at = $1`, [days(-31)]);
    expect(await ask('bb')).toEqual([{ outcome: 'reused' }]);
    await retention(core, NOW).pass();
    expect(await ask('bb')).toEqual([{ outcome: 'made' }]);
  });

  it('ends with its process, also in the middle of a pause', async () => {
    const one = retention(core, NOW);
    one.onApplicationBootstrap();
    const start = performance.now();
    await one.beforeApplicationShutdown();
    // A minute is the pause.
    expect(performance.now() - start).toBeLessThan(30_000);
  });

  it.each(['sent', 'failed', 'unknown', 'cancelled', 'expired'])(
    'leaves nothing of what a secret one said when it is %s, whatever statement made it so',
    async (state) => {
      await core.database.transaction((tx) =>
        core.notifications.raise(
          tx,
          [message('s', 'aa', { kind: 'confirmation-code', data: { code: '493 817' } }), message('m', 'bb')],
          NOW,
        ),
      );
      await change(`UPDATE notification SET state = 'sending', content = '{"channel":"email"}'`);
      const said = () => core.rows('SELECT data, content FROM notification ORDER BY event_id DESC');
      const data = { title: 'Invoice', text: 'It is ready.' };
      expect(await said()).toEqual([
        { data: { code: '493 817' }, content: { channel: 'email' } },
        { data, content: { channel: 'email' } },
      ]);
      await change(`UPDATE notification SET state = '${state}'`);
      expect(await said()).toEqual([
        { data: {}, content: null },
        { data, content: { channel: 'email' } },
      ]);
    },
  );
});
