import 'reflect-metadata';
import type { NotificationEvent } from '../../../src/notifications';
import { accepted, type CoreStage, message, minutes, NOW, openCore } from './core-stage';

describe('what is raised', () => {
  let core: CoreStage;

  beforeAll(async () => {
    core = await openCore();
    await core.put({
      id: 'desk',
      email: 'desk@example.com',
      phone: '+4930123456',
      subscriptions: [{ kind: 'order-accepted', channels: ['email', 'sms'], partners: null }],
    });
    await core.put({
      id: 'erp',
      webhookUrl: 'https://erp.example.com/hook',
      subscriptions: [{ kind: 'order-accepted', channels: ['webhook'], partners: ['acme', 'umbra'] }],
    });
    await core.put({
      id: 'night',
      email: 'night@example.com',
      quietHours: { from: '11:30', to: '12:30', timeZone: 'Europe/Berlin' },
      subscriptions: [
        { kind: 'order-rejected', channels: ['email'], partners: null },
        { kind: 'order-overdue', channels: ['email'], partners: null },
      ],
    });
  });
  afterAll(() => core.close());
  beforeEach(() =>
    core.database.transaction((tx) => tx.query('DELETE FROM notification; DELETE FROM notification_provider')),
  );

  const seen = () =>
    core.rows<Record<string, unknown>>(
      `SELECT event_id AS event, receiver, channel, provider, address, state, partner, order_number AS "order" FROM notification ORDER BY event_id, channel`,
    );
  const row = async (event: string) => {
    const [found] = await core.rows<{ id: string; next: Date; expires: Date; data: Record<string, unknown> }>(
      'SELECT id, next_attempt_at AS next, expires_at AS expires, data FROM notification WHERE event_id = :event',
      { event },
    );
    return found;
  };

  it('is one notification for each receiver and channel that subscribed, with a provider of each', async () => {
    expect(await core.raise(accepted(1))).toBe(3);
    const common = { event: 'order/PO-1/2', state: 'pending', partner: 'acme', order: 'PO-1' };
    expect(await seen()).toEqual([
      { ...common, receiver: 'desk', channel: 'email', provider: 'email', address: 'desk@example.com' },
      { ...common, receiver: 'desk', channel: 'sms', provider: 'sms', address: '+4930123456' },
      {
        ...common,
        receiver: 'erp',
        channel: 'webhook',
        provider: 'webhook/erp',
        address: 'https://erp.example.com/hook',
      },
    ]);
    expect(await core.rows('SELECT name, channel FROM notification_provider ORDER BY name')).toEqual([
      { name: 'email', channel: 'email' },
      { name: 'sms', channel: 'sms' },
      { name: 'webhook/erp', channel: 'webhook' },
    ]);
  });

  it('concerns who subscribed to that partner only', async () => {
    expect(await core.raise(accepted(1, { partner: 'globex' }), accepted(2, { partner: 'umbra' }))).toBe(5);
    expect((await seen()).filter(({ receiver }) => receiver === 'erp')).toMatchObject([{ event: 'order/PO-2/2' }]);
    expect(await core.raise(accepted(3, { partner: undefined }))).toBe(2);
  });

  it('is told once, however often it is told, also twice in one call', async () => {
    expect(await core.raise(accepted(1), accepted(1))).toBe(3);
    const before = await seen();
    expect(await core.raise(accepted(1), accepted(2))).toBe(3);
    expect(await seen()).toEqual(expect.arrayContaining(before));
    expect(await seen()).toHaveLength(6);
  });

  it('has the same id wherever it is told', async () => {
    await core.raise(accepted(1, { to: { channel: 'email', address: 'mara@example.com' } }));
    expect((await row('order/PO-1/2'))?.id).toBe('7de9c126-52d1-85c7-b9c3-4def1e1d4aa9');
  });

  it('is told once by two transactions that tell it at the same time in opposite order, and neither breaks the other off', async () => {
    await core.raise(accepted(1), accepted(2));
    const ids = await core.rows<{ id: string }>(
      `SELECT id FROM notification WHERE receiver = 'erp' AND order_number = 'PO-1'`,
    );
    await core.database.transaction((tx) => tx.query('DELETE FROM notification'));
    // Each has written some of its rows when it meets the other.
    const letGo = await core.hold(
      `INSERT INTO notification (id, event_id, kind, channel, provider, address, data, happened_at, created_at, next_attempt_at, expires_at)
       VALUES ('${ids[0]?.id}', 'e', 'k', 'sms', 'sms', 'a', '{}', now(), now(), now(), now())`,
    );
    let runs = 0;
    const raise = (...events: NotificationEvent[]) =>
      core.database.transaction((tx) => {
        runs++;
        return core.notifications.raise(tx, events, NOW);
      });
    const first = raise(accepted(1), accepted(2));
    await core.blocked(1);
    const second = raise(accepted(2), accepted(1));
    await core.blocked(2);
    await letGo();
    expect((await Promise.all([first, second])).sort()).toEqual([0, 5]);
    expect(runs).toBe(2);
    expect(await seen()).toHaveLength(6);
  });

  it('is gone with the transaction in which it was raised', async () => {
    const broken = core.database.transaction(async (tx) => {
      await core.notifications.raise(tx, [accepted(1)], NOW);
      throw new Error('no');
    });
    await expect(broken).rejects.toThrow('no');
    expect(await seen()).toEqual([]);
  });

  it('asks nothing of the database for no events, one statement where nobody subscribed, two where somebody did', async () => {
    const statements = async (...events: Parameters<CoreStage['raise']>) =>
      core.database.transaction(async (tx) => {
        const counted = Object.create(tx) as typeof tx;
        let count = 0;
        counted.query = ((text: string, parameters?: unknown[]) => {
          count++;
          return tx.query(text, parameters);
        }) as typeof tx.query;
        await core.notifications.raise(counted, events, NOW);
        return count;
      });
    const many = Array.from({ length: 500 }, (_, n) => accepted(n));
    expect(await statements()).toBe(0);
    expect(
      await statements(
        ...many.map((event) => ({ ...event, kind: 'order-shipped', data: { ...event.data, despatchNumber: 'D' } })),
      ),
    ).toBe(1);
    expect(await statements(...many)).toBe(2);
  });

  describe('with a destination', () => {
    it('goes to that receiver by the first way of the kind that it has, or the one that is named', async () => {
      await core.raise(
        accepted(1, { to: { receiver: 'erp' } }),
        accepted(2, { to: { receiver: 'desk', channel: 'sms' } }),
        accepted(3, { to: { channel: 'sms', address: '+4930999999' } }),
      );
      expect(await seen()).toMatchObject([
        { receiver: 'erp', channel: 'webhook', provider: 'webhook/erp' },
        { receiver: 'desk', channel: 'sms', address: '+4930123456' },
        { receiver: null, channel: 'sms', provider: 'sms', address: '+4930999999' },
      ]);
    });

    it.each([
      ['notification-receiver-unknown', '/to/receiver', { to: { receiver: 'nobody' } }],
      ['notification-receiver-unreachable', '/to/receiver', { to: { receiver: 'erp', channel: 'sms' } }],
      [
        'notification-channel-unfit',
        '/to/channel',
        { kind: 'confirmation-code', data: { code: '1' }, to: { receiver: 'erp', channel: 'webhook' } },
      ],
      [
        'notification-receiver-unreachable',
        '/to/receiver',
        { kind: 'confirmation-code', data: { code: '1' }, to: { receiver: 'erp' } },
      ],
      [
        'notification-address-unfit',
        '/to/address',
        { to: { channel: 'email', address: 'a@example.com, b@example.com' } },
      ],
      [
        'notification-address-unfit',
        '/to/address',
        { to: { channel: 'email', address: 'a@example.com\r\nBcc: b@example.com' } },
      ],
      ['notification-address-unfit', '/to/address', { to: { channel: 'sms', address: '030 123456' } }],
      ['notification-kind-unknown', '/kind', { kind: 'order-eaten' }],
      ['notification-data-missing', '/data/partner', { data: { orderNumber: 'PO-1', at: 'x', partner: null } }],
      ['notification-event-id', '/id', { id: 'a\nb' }],
      ['notification-event-id', '/id', { id: '' }],
      ['notification-destination-missing', '/to', { requestHash: 'ab' }],
    ] as const)('is refused with %s at %s before anything is written', async (code, pointer, more) => {
      const event = accepted(1, more);
      await expect(core.raise(accepted(2), event)).rejects.toMatchObject({
        code,
        retriable: false,
        violations: [{ pointer }],
      });
      if (!pointer.startsWith('/to/receiver')) expect(core.notifications.fault(event)).toMatchObject({ code, pointer });
      expect(await seen()).toEqual([]);
    });

    it('quotes no address in its refusals', async () => {
      const refused = core.raise(accepted(1, { to: { channel: 'email', address: 'mara' } }));
      await expect(refused).rejects.not.toThrow('mara');
    });
  });

  it('waits for quiet hours to end where its kind respects them, and only there', async () => {
    const data = { orderNumber: 'PO-1', partner: { id: 'acme', name: 'Acme' }, at: 'x', reason: 'r', deadline: 'd' };
    await core.raise(
      accepted(1, { id: 'rejected', kind: 'order-rejected', data }),
      accepted(1, { id: 'overdue', kind: 'order-overdue', data }),
    );
    expect((await row('rejected'))?.next).toEqual(minutes(30));
    expect((await row('overdue'))?.next).toEqual(NOW);
  });

  it('is worth nothing after the time of its kind, counted from when it happened, or earlier where the event says so', async () => {
    await core.raise(
      accepted(1, { at: minutes(-60) }),
      accepted(2, { expiresAt: minutes(5) }),
      accepted(3, { expiresAt: new Date('2030-01-01') }),
    );
    expect((await row('order/PO-1/2'))?.expires).toEqual(minutes(71 * 60));
    expect((await row('order/PO-2/2'))?.expires).toEqual(minutes(5));
    expect((await row('order/PO-3/2'))?.expires).toEqual(minutes(72 * 60));
  });

  it('takes texts that PostgreSQL does not', async () => {
    await core.raise(accepted(1, { data: { ...accepted(1).data, reason: 'a\0b\ud800c' } }));
    expect((await row('order/PO-1/2'))?.data).toMatchObject({ reason: 'a\ufffdb\ufffdc' });
  });

  describe('on request', () => {
    const request = (...events: ReturnType<typeof message>[]) =>
      core.database.transaction((tx) => core.notifications.request(tx, events, NOW));

    it('is made once under its id, and known when it is asked for again in the same words', async () => {
      expect(await request(message('a', 'aa'), message('a', 'aa'), message('b', 'bb'))).toEqual([
        { outcome: 'made' },
        { outcome: 'known' },
        { outcome: 'made' },
      ]);
      expect(await request(message('b', 'bb'), message('c', 'cc'))).toEqual([
        { outcome: 'known' },
        { outcome: 'made' },
      ]);
      expect(await seen()).toHaveLength(3);
    });

    it('is refused when something else was asked for under its id, also for another address', async () => {
      const other = { to: { channel: 'sms', address: '+4930999999' } as const };
      expect(await request(message('a', 'aa'), message('a', 'bb', other))).toEqual([
        { outcome: 'made' },
        { outcome: 'reused' },
      ]);
      expect(await request(message('a', 'cc', other), message('b', 'bb'))).toEqual([
        { outcome: 'reused' },
        { outcome: 'made' },
      ]);
      await expect(core.raise(message('a', 'dd'))).rejects.toMatchObject({
        code: 'notification-id-reused',
        retriable: false,
      });
      expect(await seen()).toMatchObject([{ channel: 'email' }, { channel: 'email' }]);
    });

    it('says what is wrong with one and makes the others', async () => {
      expect(
        await request(
          message('a', 'aa', { to: { receiver: 'nobody' } }),
          message('b', 'bb'),
          message('c', 'cc', { data: {} }),
        ),
      ).toMatchObject([
        { outcome: 'refused', fault: { code: 'notification-receiver-unknown' } },
        { outcome: 'made' },
        { outcome: 'refused', fault: { code: 'notification-data-missing', pointer: '/data/title' } },
      ]);
    });

    it('is made by one of two that ask in other words at the same time', async () => {
      const letGo = await core.hold('LOCK TABLE notification IN SHARE MODE');
      const to = { channel: 'sms', address: '+4930999999' } as const;
      const both = Promise.all([request(message('a', 'aa')), request(message('a', 'bb', { to }))]);
      await core.blocked(2);
      await letGo();
      expect(
        (await both)
          .flat()
          .map(({ outcome }) => outcome)
          .sort(),
      ).toEqual(['made', 'reused']);
      expect(await seen()).toHaveLength(1);
    });
  });
});
