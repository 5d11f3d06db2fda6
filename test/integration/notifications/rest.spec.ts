import { giveKey } from '../../support/staff';
import type { Answer } from '../orders/orders-app';
import { aRequest, anAcceptance, errorOf, itemsOf, type RestApp, type Shown, startRest } from './rest-app';

const reason = { reason: 'they called us' };

describe('notifications over REST', () => {
  let rest: RestApp;

  beforeAll(async () => {
    rest = await startRest();
    const subscriptions = [{ kind: 'order-accepted', channels: ['email', 'sms'] }];
    await rest.put('ops-desk', {
      name: 'Operations',
      email: 'ops@example.com',
      phone: '+4915112345678',
      subscriptions,
    });
  });
  afterAll(() => rest.close());

  const list = async (query: string) => itemsOf(await rest.ask('viewer', `GET /v1/notifications?${query}`));
  const show = (id: string) => rest.ask('viewer', `GET /v1/notifications/${id}`);
  /** A new acceptance, told by e-mail. */
  async function told(change: Parameters<typeof anAcceptance>[0] = {}): Promise<Shown> {
    const event = anAcceptance({ to: { receiver: 'ops-desk', channel: 'email' }, ...change });
    await rest.raise(event);
    const [one] = await list(`order=${event.orderNumber}`);
    return one as Shown;
  }
  /** As a notifier would leave it. */
  const write = (id: string, columns: string, values: Record<string, unknown> = {}) =>
    rest.database.query(`UPDATE notification SET ${columns}, version = version + 1 WHERE id = :id`, { id, ...values });
  const attempt = (id: string, columns: string, values: string) =>
    rest.database.query(
      `INSERT INTO notification_attempt (notification_id, number, action, notifier, ${columns}) VALUES (:id, 1, 'send', 'n-1', ${values})`,
      { id },
    );
  const act = (id: string, verb: string, body: unknown, version: number, who: 'support' | 'viewer' = 'support') =>
    rest.ask(who, `POST /v1/notifications/${id}/${verb}`, body, { 'if-match': `"${version}"` });

  it('are listed newest first, page by page, by order, state, kind, channel, receiver and partner', async () => {
    const events = [anAcceptance({ partner: 'umbra' }), anAcceptance({ partner: 'umbra' })];
    for (const event of events) await rest.raise(event);
    // What is made within a millisecond has no order.
    await rest.database.query(
      `UPDATE notification SET created_at = created_at - interval '1 second' WHERE order_number = :first`,
      { first: events[0]?.orderNumber },
    );
    const first = await rest.ask('viewer', 'GET /v1/notifications?partner=umbra&limit=3');
    const [, next] = /^<(.+)>; rel="next"$/.exec(String(first.headers['link'])) ?? [];
    const second = await rest.ask('viewer', `GET ${next}`);
    const all = [...itemsOf(first), ...itemsOf(second)];
    expect([itemsOf(first).length, itemsOf(second).length, second.json['nextCursor']]).toEqual([3, 1, null]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(4);
    expect(all.map(({ orderNumber }) => orderNumber)).toEqual([
      ...[events[1], events[1], events[0], events[0]].map((event) => event?.orderNumber),
    ]);
    const order = `order=${events[0]?.orderNumber}`;
    for (const [query, count] of [
      ['', 2],
      ['&channel=sms', 1],
      ['&kind=order-accepted', 2],
      ['&kind=order-rejected', 0],
      ['&receiver=ops-desk', 2],
      ['&receiver=nobody', 0],
      ['&state=pending', 2],
      ['&state=sent', 0],
      ['&partner=acme', 0],
    ] as const)
      expect([query, (await list(order + query)).length]).toEqual([query, count]);
  });

  it.each(['state=lost', 'channel=fax', 'receiver=A', 'order=%00', 'partner=', 'address=a@b.c', 'limit=0', 'cursor=x'])(
    'are not listed by %s',
    async (query) => {
      expect(errorOf(await rest.ask('viewer', `GET /v1/notifications?${query}`))).toEqual([
        400,
        query.startsWith('cursor') ? 'cursor-invalid' : 'request-invalid',
      ]);
    },
  );

  it('show what they tell, where they stand and to whom they go, with the address masked and the version as ETag', async () => {
    const one = await told();
    const shown = await show(one.id);
    expect(shown.headers['etag']).toBe('"1"');
    expect(shown.json).toMatchObject({
      ...{ id: one.id, kind: 'order-accepted', channel: 'email', provider: 'email', address: '•••', state: 'pending' },
      ...{ summary: 'A partner accepted an order as it was placed.', partner: 'acme', resendOf: null, settledAt: null },
      receiver: { id: 'ops-desk', name: 'Operations' },
      data: { partner: { id: 'acme', name: 'Acme Ltd' } },
      standing: 'Due: a notifier takes it as soon as the rate of email lets it.',
      ...{ history: [], resends: [], may: ['cancel'] },
    });
    expect(shown.body).not.toContain('ops@example.com');
    const { data, history, may, ...entry } = shown.json;
    expect([data, history, may]).not.toContain(undefined);
    expect(entry).toEqual(one);
  });

  it('show masks where another system asked for them, and nothing of a secret', async () => {
    const request = aRequest({ partner: 'acme' });
    const code = aRequest({ kind: 'confirmation-code', data: { code: '493817' } });
    await rest.raise(request, code);
    const all = await list('limit=200');
    const ids = [request, code].map(({ id }) => all.find(({ eventId }) => eventId === id)?.id ?? '');
    const [message, secret] = await Promise.all(ids.map(show));
    expect(message?.json).toMatchObject({ address: '•••', receiver: null, data: { title: '•••', text: '•••' } });
    expect(secret?.json).toMatchObject({ address: '•••', data: null });
    expect(`${message?.body}${secret?.body}`).not.toMatch(/kim\.doe|Kim Doe|493817/);
    expect(errorOf(await rest.ask('admin', `POST /v1/notifications/${ids[1]}/unmasking`, reason))).toEqual([
      409,
      'notification-secret',
    ]);
    expect(await rest.audited('notification.unmask')).toEqual([]);

    expect((await rest.ask('viewer', `POST /v1/notifications/${ids[0]}/unmasking`, reason)).status).toBe(403);
    expect(errorOf(await rest.ask('support', `POST /v1/notifications/${ids[0]}/unmasking`, {}))).toEqual([
      400,
      'request-invalid',
    ]);
    const unmasked = await rest.ask('support', `POST /v1/notifications/${ids[0]}/unmasking`, reason);
    expect(unmasked).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-store', etag: '"1"' },
      json: { address: 'kim.doe@example.com', data: request.data, content: null },
    });
    expect(await rest.audited('notification.unmask')).toEqual([
      {
        ...{ caller: rest.keys.support.id, object: `notification/${ids[0]}`, partner: 'acme', reason: reason.reason },
        detail: { kind: 'message', shown: ['address', 'data'] },
      },
    ]);
  });

  it('show nothing unmasked that the audit could not keep', async () => {
    const { id } = await told();
    const runner = rest.database.dataSource.createQueryRunner();
    await runner.query('ALTER TABLE audit_entry ADD CONSTRAINT full_up CHECK (false) NOT VALID');
    try {
      const answer = await rest.ask('support', `POST /v1/notifications/${id}/unmasking`, reason);
      expect([answer.status, answer.body.includes('ops@example.com')]).toEqual([500, false]);
    } finally {
      await runner.query('ALTER TABLE audit_entry DROP CONSTRAINT full_up');
      await runner.release();
    }
  });

  it('show the attempts, and where one stands that is being sent, in doubt, unknown or settled', async () => {
    const { id } = await told();
    const sentence = async () => (await show(id)).json['standing'];
    await write(id, `state = 'sending', attempts = 1, lease_until = now() + interval '1 min'`);
    await attempt(id, 'begun_at', `'2026-02-03T12:01:00Z'`);
    expect(await sentence()).toBe('Being sent through email since 2026-02-03T12:01:00.000Z, by n-1: attempt 1.');
    await write(id, `lease_until = '2026-02-03T12:02:00Z'`);
    expect(await sentence()).toBe(
      'The notifier that had it has not been heard of since 2026-02-03T12:02:00.000Z: it may have gone out at 2026-02-03T12:01:00.000Z.',
    );
    await write(id, `state = 'pending', doubtful = true, next_attempt_at = '2026-02-03T12:03:00Z', lease_until = NULL`);
    expect(await sentence()).toBe(
      'In doubt: it may have gone out at 2026-02-03T12:01:00.000Z. Looked at again at 2026-02-03T12:03:00.000Z: the provider is asked then; where it cannot tell, a person decides.',
    );
    await write(id, `state = 'unknown', detail = 'Nobody can tell.'`);
    const unknown = await show(id);
    expect(unknown.json).toMatchObject({
      standing:
        'Unknown: it may have gone out at 2026-02-03T12:01:00.000Z. Nobody can tell. Find out from its receiver, or in the log of whoever sends, and resolve it; or send it anew.',
      may: ['resend', 'resolve'],
      history: [
        {
          ...{ number: 1, action: 'send', begunAt: '2026-02-03T12:01:00.000Z', endedAt: null, outcome: null },
          ...{ code: null, detail: null, providerReference: null, notifier: 'n-1' },
        },
      ],
    });
  });

  it('say for which provider or whose quiet hours they wait', async () => {
    const { id } = await told();
    const sentence = async () => String((await show(id)).json['standing']);
    const provider = (columns: string) =>
      rest.database.query(`UPDATE notification_provider SET ${columns} WHERE name = 'email'`);
    await provider(
      `failures = 5, failing_since = '2026-02-03T12:01:00Z', open_until = now() + interval '1 h', last_code = 'smtp-unreachable'`,
    );
    expect(await sentence()).toMatch(
      /^Waiting: the provider email does not serve us since 2026-02-03T12:01:00\.000Z \(smtp-unreachable\); next try at \S+Z\. It expires at \S+Z\.$/,
    );
    await provider(`failures = 0, failing_since = NULL, open_until = NULL, last_code = NULL`);
    await write(
      id,
      `attempts = 2, next_attempt_at = now() + interval '1 h', code = 'greylisted', detail = 'Come back.'`,
    );
    expect(await sentence()).toMatch(/^Tried twice; next at \S+Z\. Come back\.$/);
    const quietHours = { from: '00:00', to: '23:59', timeZone: 'UTC' };
    await rest.put('sleeper', { email: 'sleeper@example.com', quietHours });
    const event = anAcceptance({ to: { receiver: 'sleeper' } });
    await rest.raise(event);
    const [one] = await list(`order=${event.orderNumber}`);
    // Between 23:59 and midnight nobody is quiet.
    if (new Date().toISOString().slice(11, 16) !== '23:59')
      expect(one?.standing).toMatch(/^Waits for the quiet hours of its receiver to end at \S+T23:59:00\.000Z\.$/);
  });

  it('are cancelled while they wait, by who has seen them and says why, and the audit keeps it', async () => {
    const one = await told();
    expect((await act(one.id, 'cancellation', reason, 1, 'viewer')).status).toBe(403);
    expect(errorOf(await act(one.id, 'cancellation', {}, 1))).toEqual([400, 'request-invalid']);
    expect(errorOf(await rest.ask('support', `POST /v1/notifications/${one.id}/cancellation`, reason))).toEqual([
      428,
      'precondition-missing',
    ]);
    expect(errorOf(await act(one.id, 'cancellation', reason, 7))).toEqual([412, 'version-stale']);
    const cancelled = await act(one.id, 'cancellation', reason, 1);
    expect(cancelled).toMatchObject({
      status: 200,
      headers: { etag: '"2"' },
      json: { state: 'cancelled', version: 2 },
    });
    expect(cancelled.json['standing']).toMatch(/^Cancelled at \S+Z\. Staff cancelled it\.$/);
    expect(errorOf(await act(one.id, 'cancellation', reason, 2))).toEqual([409, 'notification-state']);
    expect(
      (await rest.audited('notification.cancel')).filter(({ object }) => object === `notification/${one.id}`),
    ).toEqual([
      {
        ...{ caller: rest.keys.support.id, object: `notification/${one.id}`, partner: 'acme', reason: reason.reason },
        detail: { kind: 'order-accepted', channel: 'email', state: 'cancelled' },
      },
    ]);
  });

  it('are sent anew as another one that names the first, once for each look at it', async () => {
    const one = await told();
    expect(errorOf(await act(one.id, 'resend', reason, 1))).toEqual([409, 'notification-state']);
    await write(one.id, `state = 'sent', settled_at = now()`);
    const answers = await Promise.all([1, 2].map(() => act(one.id, 'resend', reason, 2)));
    expect(answers.map(errorOf).toSorted()).toEqual([
      [201, null],
      [412, 'version-stale'],
    ]);
    const made = answers.find(({ status }) => status === 201) as Answer;
    const id = String(made.json['id']);
    expect(made.headers).toMatchObject({ location: `/v1/notifications/${id}`, etag: '"1"' });
    expect(made.json).toMatchObject({ state: 'pending', resendOf: one.id, orderNumber: one['orderNumber'] });
    expect((await show(one.id)).json).toMatchObject({ state: 'sent', resends: [id], version: 3 });
    const [entry, ...others] = (await rest.audited('notification.resend')).filter(
      ({ object }) => object === `notification/${one.id}`,
    );
    expect([entry?.['detail'], others]).toEqual([
      { kind: 'order-accepted', channel: 'email', state: 'pending', resentAs: id },
      [],
    ]);
  });

  it.each([
    ['delivered', 'sent'],
    ['not-delivered', 'failed'],
  ])('are resolved as %s by somebody who found out', async (outcome, state) => {
    const one = await told();
    expect(errorOf(await act(one.id, 'resolution', { ...reason, outcome }, 1))).toEqual([409, 'notification-state']);
    await write(one.id, `state = 'unknown', doubtful = true`);
    expect(errorOf(await act(one.id, 'resolution', { ...reason, outcome: 'perhaps' }, 2))).toEqual([
      400,
      'request-invalid',
    ]);
    const resolved = await act(one.id, 'resolution', { ...reason, outcome }, 2);
    expect(resolved).toMatchObject({ status: 200, json: { state, version: 3, code: `resolved-${outcome}` } });
    expect((await rest.audited('notification.resolve')).at(-1)).toMatchObject({ detail: { outcome, state } });
  });

  it('that are about another partner, or about none, are unknown to who is confined to some', async () => {
    const one = await told();
    const event = aRequest();
    await rest.raise(event);
    const request = (await list('limit=200')).find(({ eventId }) => eventId === event.id) as Shown;
    const umbra = await giveKey(rest.database, { partners: ['umbra'] });
    const acme = await giveKey(rest.database, { partners: ['acme'] });
    const seen = itemsOf(await rest.ask(umbra, 'GET /v1/notifications?limit=200'));
    expect(new Set(seen.map(({ partner }) => partner))).toEqual(new Set(['umbra']));
    expect((await rest.ask(acme, `GET /v1/notifications/${one.id}`)).status).toBe(200);
    for (const [key, id] of [
      [umbra, one.id],
      [acme, request.id],
      [acme, 'nonsense'],
      [acme, '%00'],
    ] as const) {
      const unknown = [404, 'notification-unknown'];
      expect(errorOf(await rest.ask(key, `GET /v1/notifications/${id}`))).toEqual(unknown);
      for (const verb of ['resend', 'cancellation', 'resolution', 'unmasking']) {
        const body = { ...reason, ...(verb === 'resolution' && { outcome: 'delivered' }) };
        const refused = await rest.ask(key, `POST /v1/notifications/${id}/${verb}`, body, { 'if-match': '"1"' });
        expect([verb, ...errorOf(refused)]).toEqual([verb, ...unknown]);
      }
    }
  });
});
