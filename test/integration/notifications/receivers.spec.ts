import 'reflect-metadata';
import { accepted, type CoreStage, minutes, NOW, openCore, receiver, retention } from './core-stage';

describe('receivers', () => {
  let core: CoreStage;

  beforeAll(async () => {
    core = await openCore();
  });
  afterAll(() => core.close());
  beforeEach(() =>
    core.database.transaction((tx) =>
      tx.query(
        'DELETE FROM notification; DELETE FROM notification_provider; DELETE FROM notification_receiver; DELETE FROM notification_bad_address',
      ),
    ),
  );

  const desk = {
    ...receiver('desk'),
    email: 'desk@example.com',
    phone: '+4930123456',
    webhookUrl: 'https://desk.example.com/hook',
    quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' },
    subscriptions: [
      { kind: 'order-accepted', channels: ['email', 'sms', 'webhook'] as const, partners: null },
      { kind: 'order-rejected', channels: ['email'] as const, partners: ['acme', 'umbra'] },
    ],
  };
  const put = (draft: typeof desk, seen: number | null) =>
    core.database.transaction((tx) => core.receivers.put(tx, draft, seen, NOW));
  const remove = (id: string, seen: number) =>
    core.database.transaction((tx) => core.receivers.remove(tx, id, seen, NOW));
  const waiting = () =>
    core.rows<Record<string, unknown>>(
      `SELECT order_number AS "order", channel, address, state, code, version FROM notification WHERE receiver = 'desk' ORDER BY order_number, channel`,
    );
  const change = (sql: string) => core.database.transaction((tx) => tx.query(sql));

  it('are kept as they were put, and replaced as a whole', async () => {
    const { receiver: made, ...rest } = await put(desk, null);
    expect(made).toEqual({ ...desk, version: 1, createdAt: NOW, updatedAt: NOW });
    expect(rest).toEqual({ made: true, before: null, moved: 0, cancelled: 0 });
    expect(await core.receivers.find('desk')).toEqual(made);
    const less = { ...desk, name: 'Desk', phone: null, quietHours: null, subscriptions: desk.subscriptions.slice(1) };
    const replaced = await core.database.transaction((tx) => core.receivers.put(tx, less, 1, minutes(1)));
    expect(replaced).toMatchObject({ made: false, before: made });
    expect(await core.receivers.find('desk')).toEqual({ ...less, version: 2, createdAt: NOW, updatedAt: minutes(1) });
  });

  it('are read page by page', async () => {
    for (const id of ['c', 'a', 'e', 'b', 'd']) await core.put({ id });
    const first = await core.receivers.page(2);
    const second = await core.receivers.page(2, first.nextCursor ?? '');
    const third = await core.receivers.page(2, second.nextCursor ?? '');
    expect([first, second, third].map(({ items }) => items.map(({ id }) => id))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e'],
    ]);
    expect(third.nextCursor).toBeNull();
    await expect(core.receivers.page(2, 'nonsense')).rejects.toMatchObject({ code: 'cursor-invalid' });
  });

  it('are changed by who has seen the last version only', async () => {
    await expect(put(desk, 1)).rejects.toMatchObject({ code: 'receiver-unknown' });
    await put(desk, null);
    await expect(put(desk, null)).rejects.toMatchObject({ code: 'version-stale' });
    await put(desk, 1);
    await expect(put(desk, 1)).rejects.toMatchObject({ code: 'version-stale' });
    await expect(remove('desk', 1)).rejects.toMatchObject({ code: 'version-stale' });
    expect(await core.receivers.find('desk')).toMatchObject({ version: 2 });
  });

  it('are changed by one of two that have seen the same version', async () => {
    await put(desk, null);
    const letGo = await core.hold(`SELECT 1 FROM notification_receiver WHERE id = 'desk' FOR UPDATE`);
    const both = Promise.allSettled([put({ ...desk, name: 'one' }, 1), put({ ...desk, name: 'two' }, 1)]);
    await core.blocked(2);
    await letGo();
    expect((await both).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await core.receivers.find('desk')).toMatchObject({ version: 2 });
  });

  it('are made by one of two that saw none', async () => {
    const letGo = await core.hold('LOCK TABLE notification_receiver IN SHARE MODE');
    const both = Promise.allSettled([put(desk, null), put(desk, null)]);
    await core.blocked(2);
    await letGo();
    const results = await both;
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'version-stale' } });
  });

  it.each([
    ['/id', { id: 'Desk' }],
    ['/name', { name: 'a\r\nb' }],
    ['/name', { name: '' }],
    ['/email', { email: 'a@example.com\r\nBcc: b@example.com' }],
    ['/phone', { phone: '030 123' }],
    ['/webhookUrl', { webhookUrl: 'https://example.com/a b' }],
    ['/webhookUrl', { webhookUrl: 'file:///etc/passwd' }],
    ['/quietHours/from', { quietHours: { from: '24:00', to: '07:00', timeZone: 'UTC' } }],
    ['/quietHours/to', { quietHours: { from: '07:00', to: '07:00', timeZone: 'UTC' } }],
    ['/quietHours/timeZone', { quietHours: { from: '22:00', to: '07:00', timeZone: '+02:00' } }],
    ['/subscriptions/0/channels/1', { phone: null }],
    [
      '/subscriptions/1/channels/0',
      { subscriptions: [desk.subscriptions[0], { ...desk.subscriptions[0], channels: ['sms'] as const }] },
    ],
    ['/subscriptions/0/partners', { subscriptions: [{ ...desk.subscriptions[0], partners: [] }] }],
  ])('are refused with a violation of %s', async (pointer, more) => {
    await expect(put({ ...desk, ...(more as Partial<typeof desk>) }, null)).rejects.toMatchObject({
      code: 'receiver-invalid',
      violations: [{ pointer }],
    });
  });

  it('that move take along what waits and was not begun, and leave what was begun where a provider may know it', async () => {
    await put(desk, null);
    await core.raise(accepted(1), accepted(2), accepted(3));
    await change(`UPDATE notification SET attempts = 1 WHERE order_number = 'PO-2'`);
    await change(`UPDATE notification SET state = 'sending', claim = gen_random_uuid() WHERE order_number = 'PO-3'`);
    const { moved, cancelled } = await put({ ...desk, email: 'new@example.com' }, 1);
    expect([moved, cancelled]).toEqual([1, 0]);
    expect((await waiting()).filter(({ channel }) => channel === 'email')).toMatchObject([
      { order: 'PO-1', address: 'new@example.com', version: 2 },
      { order: 'PO-2', address: 'desk@example.com', version: 1 },
      { order: 'PO-3', address: 'desk@example.com', version: 1 },
    ]);
    expect((await waiting()).filter(({ channel }) => channel === 'sms')).toMatchObject(Array(3).fill({ version: 1 }));
  });

  it('that are no longer reached some way have what waits for it cancelled, in words', async () => {
    await put(desk, null);
    await core.raise(accepted(1));
    const subscriptions = [{ kind: 'order-accepted', channels: ['email', 'webhook'] as const, partners: null }];
    const less = { ...desk, phone: null, subscriptions } as unknown as typeof desk;
    expect(await put(less, 1)).toMatchObject({ moved: 0, cancelled: 1 });
    expect(await waiting()).toMatchObject([
      { channel: 'email', state: 'pending' },
      { channel: 'sms', state: 'cancelled', code: 'address-removed' },
      { channel: 'webhook', state: 'pending' },
    ]);
  });

  it('begin anew with a new address: no mark, no open breaker, not disabled', async () => {
    await put(desk, null);
    await change(`INSERT INTO notification_bad_address SELECT c, a, 'bad', 'x', now() FROM (VALUES
      ('email', 'desk@example.com'), ('email', 'new@example.com'), ('sms', '+4930123456')) v(c, a)`);
    await change(
      `UPDATE notification_provider SET failures = 9, disabled_at = now(), open_until = now() WHERE name = 'webhook/desk'`,
    );
    await put({ ...desk, email: 'new@example.com' }, 1);
    expect(await core.rows('SELECT address FROM notification_bad_address ORDER BY address')).toEqual([
      { address: '+4930123456' },
      { address: 'desk@example.com' },
    ]);
    const provider = () =>
      core.rows('SELECT failures, disabled_at FROM notification_provider WHERE channel = $$webhook$$');
    expect(await provider()).toMatchObject([{ failures: 9 }]);
    await put({ ...desk, email: 'new@example.com', webhookUrl: 'https://desk.example.com/new' }, 2);
    expect(await provider()).toEqual([{ failures: 0, disabled_at: null }]);
  });

  it('that are removed have what waits for them cancelled, also what is in doubt, and leave nothing else', async () => {
    await put(desk, null);
    await core.put({
      id: 'other',
      email: 'o@example.com',
      subscriptions: [{ kind: 'order-accepted', channels: ['email'], partners: null }],
    });
    await core.raise(accepted(1));
    await change(`UPDATE notification SET doubtful = true, attempts = 1 WHERE channel = 'sms'`);
    await change(`UPDATE notification SET state = 'sending' WHERE channel = 'webhook'`);
    expect(await remove('desk', 1)).toBe(2);
    expect(
      await core.rows(
        'SELECT channel, state, code, detail FROM notification WHERE receiver = $$desk$$ ORDER BY channel',
      ),
    ).toEqual([
      { channel: 'email', state: 'cancelled', code: 'receiver-removed', detail: 'Its receiver was removed.' },
      {
        channel: 'sms',
        state: 'cancelled',
        code: 'receiver-removed',
        detail: 'Its receiver was removed. Its last attempt may have gone out.',
      },
      { channel: 'webhook', state: 'sending', code: null, detail: null },
    ]);
    expect(await core.rows('SELECT state FROM notification WHERE receiver = $$other$$')).toEqual([
      { state: 'pending' },
    ]);
    expect(await core.rows('SELECT name FROM notification_provider ORDER BY name')).toEqual([
      { name: 'email' },
      { name: 'sms' },
    ]);
    expect(await core.receivers.find('desk')).toBeUndefined();
  });

  it('that are removed leave no mark of their addresses, but where another has the same', async () => {
    await put(desk, null);
    await core.put({ id: 'other', email: desk.email });
    await change(`INSERT INTO notification_bad_address SELECT c, a, 'bad', 'x', now() FROM (VALUES ('email', '${desk.email}'),
      ('sms', '${desk.phone}'), ('webhook', '${desk.webhookUrl}'), ('sms', '+4930999'), ('email', '${desk.phone}')) v(c, a)`);
    await remove('desk', 1);
    const marked = () => core.rows('SELECT channel, address FROM notification_bad_address ORDER BY channel, address');
    const others = [
      { channel: 'email', address: desk.phone },
      { channel: 'sms', address: '+4930999' },
    ];
    expect(await marked()).toEqual([others[0], { channel: 'email', address: desk.email }, others[1]]);
    await remove('other', 1);
    expect(await marked()).toEqual(others);
  });

  it('whose quiet hours are changed are told by the new ones what only waited for the old ones', async () => {
    await put({ ...desk, quietHours: { from: '11:00', to: '20:00', timeZone: 'Europe/Berlin' } }, null);
    await core.raise(accepted(1), accepted(2), accepted(3), accepted(4), accepted(5));
    // Berlin is an hour ahead of UTC, and its noon is now.
    const next = async () =>
      (
        await core.rows<{ at: Date }>(
          `SELECT next_attempt_at AS at FROM notification WHERE channel = 'email' ORDER BY order_number`,
        )
      ).map(({ at }) => at);
    expect(await next()).toEqual(Array(5).fill(minutes(8 * 60)));
    await change(`UPDATE notification SET attempts = 1, code = 'smtp-deferred' WHERE order_number = 'PO-2'`);
    await change(`UPDATE notification SET attempts = 1, code = 'quiet-hours' WHERE order_number = 'PO-3'`);
    await change(
      `UPDATE notification SET attempts = 1, code = 'quiet-hours', doubtful = true WHERE order_number = 'PO-4'`,
    );
    // Of a kind that ignores them, and due by another clock than ours.
    await change(`UPDATE notification SET kind = 'order-overdue' WHERE order_number = 'PO-5'`);
    await put({ ...desk, quietHours: { from: '11:00', to: '20:00', timeZone: 'Europe/Berlin' } }, 1);
    expect(await next()).toEqual(Array(5).fill(minutes(8 * 60)));
    await put({ ...desk, quietHours: { from: '11:00', to: '13:00', timeZone: 'Europe/Berlin' } }, 2);
    expect(await next()).toEqual([minutes(60), minutes(8 * 60), minutes(60), minutes(8 * 60), minutes(8 * 60)]);
    await put({ ...desk, quietHours: null as unknown as typeof desk.quietHours }, 3);
    expect(await next()).toEqual([NOW, minutes(8 * 60), NOW, minutes(8 * 60), minutes(8 * 60)]);
  });

  it('that are removed while somebody raises something are told nothing: what came late is cancelled, what comes back too', async () => {
    await put(desk, null);
    let raised = () => {};
    const wait = new Promise<void>((resolve) => (raised = resolve));
    let commit = () => {};
    const mayCommit = new Promise<void>((resolve) => (commit = resolve));
    const raising = core.database.transaction(async (tx) => {
      await core.notifications.raise(tx, [accepted(1), accepted(2)], NOW);
      raised();
      await mayCommit;
    });
    await wait;
    // Nobody waits: raising locks no receiver.
    expect(await remove('desk', 1)).toBe(0);
    commit();
    await raising;
    expect(await waiting()).toMatchObject(Array(6).fill({ state: 'pending' }));
    await change(`UPDATE notification SET state = 'sending' WHERE order_number = 'PO-2'`);
    const sweep = retention(core, NOW);
    expect(await sweep.pass()).toEqual({ deleted: 0, cancelled: 3 });
    await change(`UPDATE notification SET state = 'pending' WHERE order_number = 'PO-2'`);
    expect(await sweep.pass()).toEqual({ deleted: 0, cancelled: 3 });
    expect(await waiting()).toMatchObject(Array(6).fill({ state: 'cancelled', code: 'receiver-removed' }));
  });
});
