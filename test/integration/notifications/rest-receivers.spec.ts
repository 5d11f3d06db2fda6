import { giveKey } from '../../support/staff';
import type { Answer } from '../orders/orders-app';
import {
  anAcceptance,
  errorOf,
  EVERYTHING,
  itemsOf,
  RECEIVERS,
  receiversOf,
  type RestApp,
  startRest,
} from './rest-app';

const pointersOf = ({ json }: Answer) => (json['errors'] as { pointer: string }[]).map(({ pointer }) => pointer);

describe('receivers over REST', () => {
  let rest: RestApp;

  beforeAll(async () => {
    rest = await startRest();
  });
  afterAll(() => rest.close());

  const { put, show, match, entries } = receiversOf(() => rest);

  it('are made as the body says, shown with their addresses masked, and the secret of the webhook is told once', async () => {
    const made = await put('ops-desk', EVERYTHING);
    expect([made.status, made.headers['location'], made.headers['etag'], made.headers['cache-control']]).toEqual([
      ...[201, `${RECEIVERS}/ops-desk`, '"1"', 'no-store'],
    ]);
    const { webhookSecret, ...receiver } = made.json;
    expect(webhookSecret).toMatch(/^whsec_[\w+/]{43}=$/);
    const shown = await show('ops-desk');
    expect([shown.status, shown.headers['etag'], shown.json]).toEqual([200, '"1"', receiver]);
    expect(shown.json).toMatchObject({
      ...{ id: 'ops-desk', version: 1, name: 'Operations desk', email: '•••', phone: '•••', webhookUrl: '•••' },
      quietHours: EVERYTHING.quietHours,
      subscriptions: [EVERYTHING.subscriptions[0], { ...EVERYTHING.subscriptions[1], partners: null }],
      webhook: { disabledAt: null, disabledReason: null, secrets: [{ number: 1, validUntil: null }] },
      badAddresses: [],
    });
    const list = await rest.ask('admin', `GET ${RECEIVERS}`);
    expect(itemsOf(list)).toContainEqual(shown.json);
    expect(`${made.body}${shown.body}${list.body}`).not.toMatch(/ops@example|15112345678|s3cr3t/);
    expect(shown.body).not.toContain(String(webhookSecret));
    expect(await entries('make', 'ops-desk')).toEqual([
      {
        ...{ caller: rest.keys.operator.id, object: 'notification-receiver/ops-desk', partner: null, reason: null },
        detail: {
          changed: ['name', 'email', 'phone', 'webhookUrl', 'quietHours', 'subscriptions'],
          ...{ moved: 0, cancelled: 0, webhookSecret: 1 },
        },
      },
    ]);
  });

  it('are replaced by who has seen them, and made anew by nobody', async () => {
    expect((await put('pair', {}, { 'if-none-match': '*' })).status).toBe(201);
    expect(errorOf(await put('pair', {}))).toEqual([428, 'precondition-missing']);
    expect(errorOf(await put('pair', {}, { 'if-none-match': '*' }))).toEqual([412, 'version-stale']);
    expect(errorOf(await put('pair', {}, { 'if-none-match': '"1"' }))).toEqual([400, 'request-invalid']);
    expect(errorOf(await put('pair', {}, match(9)))).toEqual([412, 'version-stale']);
    expect(errorOf(await put('nobody', {}, match(1)))).toEqual([404, 'receiver-unknown']);
    const both = await Promise.all(['one', 'other'].map((name) => put('pair', { name }, match(1))));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412]);
    const won = both.find(({ status }) => status === 200) as Answer;
    expect((await show('pair')).json).toMatchObject({ name: won.json['name'], version: 2 });
    expect((await entries('replace', 'pair')).map(({ detail }) => detail)).toEqual([
      { changed: ['name'], moved: 0, cancelled: 0 },
    ]);
    const two = await Promise.all([put('twin', { name: 'a' }), put('twin', { name: 'b' })]);
    expect(two.map(({ status }) => status).toSorted()[0]).toBe(201);
    expect([412, 428]).toContain(two.map(({ status }) => status).toSorted()[1]);
  });

  it('keep an address that is given back masked, and a mask stands for nothing else', async () => {
    await put('masked', { email: 'first@example.com' });
    const kept = await put('masked', { name: 'Renamed', email: '•••' }, match(1));
    expect([kept.status, kept.json['email']]).toEqual([200, '•••']);
    const unmasked = await rest.ask('support', `POST ${RECEIVERS}/masked/unmasking`, { reason: 'to call them' });
    expect(unmasked.json).toMatchObject({ name: 'Renamed', email: 'first@example.com', phone: null });
    const stray = await put('masked', { email: '•••', phone: '•••' }, match(2));
    expect([...errorOf(stray), pointersOf(stray)]).toEqual([422, 'receiver-invalid', ['/phone']]);
    const gone = await put('masked', { name: 'Renamed' }, match(2));
    expect(gone.json).toMatchObject({ version: 3, email: null });
  });

  it('show their addresses to support for a reason, which the audit keeps', async () => {
    await put('unmasked', { email: 'who@example.com', phone: '+4915100000001' });
    const unmask = (who: 'viewer' | 'support', body: object) =>
      rest.ask(who, `POST ${RECEIVERS}/unmasked/unmasking`, body);
    expect((await unmask('viewer', { reason: 'x' })).status).toBe(403);
    expect(errorOf(await unmask('support', {}))).toEqual([400, 'request-invalid']);
    const shown = await unmask('support', { reason: 'to call them' });
    expect([shown.status, shown.headers['cache-control'], shown.json['email']]).toEqual([
      ...[200, 'no-store', 'who@example.com'],
    ]);
    expect(await entries('unmask', 'unmasked')).toMatchObject([
      { caller: rest.keys.support.id, reason: 'to call them', detail: { shown: ['email', 'phone'] } },
    ]);
  });

  it.each([
    ['/email', { email: 'a@example.com, b@example.com' }],
    ['/email', { email: 'ops@localhost' }],
    ['/email', { email: 'a@example.com\r\nBcc: b@example.com' }],
    ['/phone', { phone: '0151 123' }],
    ['/webhookUrl', { webhookUrl: 'https://user:word@hooks.example.com/' }],
    ['/webhookUrl', { webhookUrl: 'https://10.0.0.1/' }],
    ['/webhookUrl', { webhookUrl: 'ftp://example.com/' }],
    ['/quietHours/timeZone', { quietHours: { from: '22:00', to: '07:00', timeZone: 'Mars/Olympus' } }],
    ['/quietHours/to', { quietHours: { from: '22:00', to: '22:00', timeZone: 'UTC' } }],
    [
      '/subscriptions/0/kind',
      { email: 'a@example.com', subscriptions: [{ kind: 'order-eaten', channels: ['email'] }] },
    ],
    [
      '/subscriptions/0/kind',
      { email: 'a@example.com', subscriptions: [{ kind: 'announcement', channels: ['email'] }] },
    ],
    ['/subscriptions/0/kind', { email: 'a@example.com', subscriptions: [{ kind: 'test', channels: ['email'] }] }],
    [
      '/subscriptions/0/channels/1',
      { email: 'a@example.com', subscriptions: [{ kind: 'order-accepted', channels: ['email', 'sms'] }] },
    ],
    [
      '/subscriptions/1/channels/0',
      {
        email: 'a@example.com',
        subscriptions: [
          { kind: 'order-accepted', channels: ['email'] },
          { kind: 'order-accepted', channels: ['email'], partners: ['acme'] },
        ],
      },
    ],
  ])('are refused with a pointer to what breaks a rule: %s %j', async (pointer, body) => {
    const refused = await put('faulty', body);
    expect([...errorOf(refused), pointersOf(refused)]).toEqual([422, 'receiver-invalid', [pointer]]);
    expect(refused.body).not.toMatch(/b@example|user:word/);
    expect((await show('faulty')).status).toBe(404);
  });

  it.each([
    ['/name', { name: '' }],
    ['/name', { name: 'two\nlines' }],
    ['/email', { email: 7 }],
    ['/subscriptions', { subscriptions: undefined }],
    ['/subscriptions/0/channels', { subscriptions: [{ kind: 'order-accepted', channels: [] }] }],
    ['/subscriptions/0/partners', { subscriptions: [{ kind: 'order-accepted', channels: ['email'], partners: [] }] }],
    ['/quietHours/from', { quietHours: { from: '25:00', to: '07:00', timeZone: 'UTC' } }],
    ['/fax', { fax: '1' }],
  ])('are refused where the form is broken: %s %j', async (pointer, body) => {
    const refused = await put('faulty', body);
    expect([...errorOf(refused), pointersOf(refused)[0]]).toEqual([400, 'request-invalid', pointer]);
  });

  it.each(['Ops', 'a.b', 'x'.repeat(65), '%00'])('have no id like %s', async (id) => {
    expect(errorOf(await put(id, {}))).toEqual([422, 'receiver-invalid']);
    expect(errorOf(await show(id))).toEqual([404, 'receiver-unknown']);
  });

  it('are deleted by who has seen them, and what waits for them is cancelled', async () => {
    await put('leaver', { email: 'leaver@example.com' });
    const event = anAcceptance({ to: { receiver: 'leaver' } });
    await rest.raise(event);
    const remove = (headers = {}) => rest.ask('operator', `DELETE ${RECEIVERS}/leaver`, undefined, headers);
    expect(errorOf(await remove())).toEqual([428, 'precondition-missing']);
    expect(errorOf(await remove(match(2)))).toEqual([412, 'version-stale']);
    expect((await remove(match(1))).status).toBe(204);
    expect(errorOf(await remove(match(1)))).toEqual([404, 'receiver-unknown']);
    const [one] = itemsOf(await rest.ask('viewer', `GET /v1/notifications?order=${event.orderNumber}`));
    expect(one).toMatchObject({ state: 'cancelled', receiver: { id: 'leaver', name: null } });
    expect(await entries('remove', 'leaver')).toMatchObject([{ detail: { cancelled: 1 } }]);
  });

  it('are shown with the addresses that a provider refused for good, without naming them', async () => {
    await put('bounced', { email: 'bounced@example.com' });
    await rest.database.query(
      `INSERT INTO notification_bad_address VALUES ('email', 'bounced@example.com', 'smtp-unknown-mailbox', 'There is no such mailbox.', '2026-02-03T04:05:06.789Z')`,
    );
    const shown = await show('bounced');
    const mark = { channel: 'email', code: 'smtp-unknown-mailbox', detail: 'There is no such mailbox.' };
    expect(shown.json['badAddresses']).toEqual([{ ...mark, since: '2026-02-03T04:05:06.789Z' }]);
    expect(shown.body).not.toContain('bounced@');
  });

  it('are known to nobody who is confined to some partners', async () => {
    const confined = await giveKey(rest.database, { partners: ['acme'] });
    await put('hidden', EVERYTHING);
    expect(itemsOf(await rest.ask(confined, `GET ${RECEIVERS}`))).toEqual([]);
    expect(errorOf(await rest.ask(confined, `PUT ${RECEIVERS}/mine`, EVERYTHING))).toEqual([
      403,
      'receivers-not-allowed',
    ]);
    const headers = { 'if-match': '"1"', 'idempotency-key': 'k' };
    for (const operation of [
      ...(['GET', 'DELETE'] as const).map((method) => `${method} ${RECEIVERS}/hidden` as const),
      ...['webhook-secret', 'webhook-enabling', 'test', 'unmasking'].map(
        (verb) => `POST ${RECEIVERS}/hidden/${verb}` as const,
      ),
    ]) {
      const body = operation.startsWith('POST') ? { reason: 'x' } : undefined;
      const refused = await rest.ask(confined, operation, operation.endsWith('secret') ? {} : body, headers);
      expect([operation, ...errorOf(refused)]).toEqual([operation, 404, 'receiver-unknown']);
    }
    expect((await show('hidden')).status).toBe(200);
  });
});

describe('receivers where hardly anything is configured', () => {
  let rest: RestApp;
  beforeAll(async () => {
    rest = await startRest({});
  });
  afterAll(() => rest.close());

  it('are refused what nothing is sent through here, with the key that is not set', async () => {
    const refused = await rest.put('ops', { ...EVERYTHING, webhookUrl: 'https://hooks.example.com/' });
    expect([...errorOf(refused), pointersOf(refused)]).toEqual([
      ...[422, 'receiver-invalid'],
      ['/webhookUrl', '/subscriptions/0/channels/0', '/subscriptions/0/channels/1', '/subscriptions/1/channels/0'],
    ]);
    expect(refused.body).toMatch(/WEBHOOK_SECRET_KEYS.*SMTP_HOST.*SMS_URL/);
  });

  it('may be reached later: addresses alone are taken', async () => {
    expect((await rest.put('ops', { email: 'ops@example.com' })).status).toBe(201);
    const test = await rest.ask('operator', `POST ${RECEIVERS}/ops/test`, undefined, { 'idempotency-key': 'a' });
    expect(errorOf(test)).toEqual([409, 'receiver-unreachable']);
  });
});
