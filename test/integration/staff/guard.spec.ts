import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { pino } from 'pino';
import { newToken } from '../../../src/staff/api-key-token';
import { eventually } from '../../support/eventually';
import { giveKey } from '../../support/staff';
import { anOrder, type OrdersApp, place, send, startOrders } from '../orders/orders-app';

const HOUR = 3_600_000;

describe('the guard', () => {
  let orders: OrdersApp;
  const lines: string[] = [];

  beforeAll(async () => {
    const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    orders = await startOrders({ logger });
  });
  afterAll(() => orders.close());

  const ask = (authorization: string, path = '/v1/orders') => send(orders, 'GET', path, undefined, { authorization });
  const expectUnknown = (answer: Awaited<ReturnType<typeof send>>, detail: RegExp) => {
    expect(answer).toMatchObject({
      status: 401,
      json: { code: 'unauthenticated', type: '/docs/problems/unauthenticated' },
    });
    expect(answer.json['detail']).toMatch(detail);
    expect(answer.json['detail']).toContain('parley key create');
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-store');
  };

  it('asks for a key where none is sent, and looks for it in the header alone', async () => {
    const { token } = orders.key;
    for (const path of [
      '/v1/orders',
      `/v1/orders?access_token=${token}`,
      '/v1/orders/any',
      '/v1/api-keys',
      '/v1/audit',
    ]) {
      const answer = await orders.app.inject({ method: 'GET', url: path });
      expect([path, answer.statusCode, answer.headers['www-authenticate']]).toEqual([
        path,
        401,
        'Bearer realm="parley"',
      ]);
    }
    expectUnknown(
      await ask(`Basic ${Buffer.from(`x:${token}`).toString('base64')}`),
      /names no API key and no access token/,
    );
  });

  it('has no other way in: by method, by spelling, by what proxies add', async () => {
    const ways = [
      ...(['HEAD', 'OPTIONS', 'DELETE'] as const).map((method) => ({ method, url: '/v1/orders' })),
      ...['/v1/orders/', '/v1/%6frders', '//v1/orders', '/V1/ORDERS', '/v1/orders;x', '/v1/orders%2f'].map((url) => {
        return { method: 'GET' as const, url };
      }),
    ];
    for (const way of ways) {
      const headers = { 'x-original-url': '/docs', 'x-http-method-override': 'GET', 'x-forwarded-for': '127.0.0.1' };
      const { statusCode } = await orders.app.inject({ ...way, headers });
      expect([way.method, way.url, [401, 404, 405].includes(statusCode)]).toEqual([way.method, way.url, true]);
    }
  });

  it('refuses what is no key of ours, and says what is wrong with it without quoting it', async () => {
    const other = newToken().token;
    const known = orders.key.token.slice(0, 'parley_key_0123456789ab_'.length);
    for (const [sent, detail] of [
      ['x', /not an API key/],
      [orders.key.token.slice(0, -1), /not an API key/],
      [`${orders.key.token.slice(0, -1)}${orders.key.token.endsWith('0') ? '1' : '0'}`, /mistyped/],
      [other, /no such API key/],
      [signed(known), /no such API key/],
    ] as const) {
      const answer = await ask(`Bearer ${sent}`);
      expectUnknown(answer, detail);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="parley", error="invalid_token"');
      expect(answer.body).not.toContain(sent.slice(-30));
    }
  });

  it('takes the scheme in any case', async () => {
    expect((await ask(`bearer ${orders.key.token}`)).status).toBe(200);
  });

  it('refuses a key that has expired', async () => {
    const { headers } = await giveKey(orders.database, { expiresAt: new Date(Date.now() + 1000) });
    await eventually(async () => (await ask(headers.authorization)).status === 401);
    expectUnknown(await ask(headers.authorization), /has expired/);
  });

  it('refuses a revoked key at once where it was revoked', async () => {
    const { id, headers } = await giveKey(orders.database);
    expect((await ask(headers.authorization)).status).toBe(200);
    expect((await send(orders, 'POST', `/v1/api-keys/${id}/revocation`, {})).status).toBe(200);
    expectUnknown(await ask(headers.authorization), /is revoked/);
  });

  it('refuses a key that was revoked elsewhere within 5 seconds', async () => {
    const { id, headers } = await giveKey(orders.database);
    expect((await ask(headers.authorization)).status).toBe(200);
    await orders.database.query('UPDATE api_key SET revoked_at = now() WHERE id = :id', { id });
    const revokedAt = performance.now();
    let letIn = revokedAt;
    await eventually(async () => {
      const began = performance.now();
      const { status } = await ask(headers.authorization);
      if (status === 200) letIn = began;
      return status === 401;
    });
    // The last request that still came in, however slow the machine.
    expect(letIn - revokedAt).toBeLessThanOrEqual(5000);
  });

  it('takes a key that was made elsewhere at once', async () => {
    expect((await ask(orders.key.headers.authorization)).status).toBe(200);
    for (let round = 0; round < 3; round++) {
      const { headers } = await giveKey(orders.database);
      expect((await ask(headers.authorization)).status).toBe(200);
    }
  });

  it('lets nobody past who has too low a role or another area, and says which it takes', async () => {
    const viewer = await giveKey(orders.database, { role: 'viewer', name: 'wall screen' });
    expect((await ask(viewer.headers.authorization)).status).toBe(200);
    const refused = await send(orders, 'POST', '/v1/orders', anOrder(), { ...viewer.headers, 'idempotency-key': 'v' });
    expect(refused).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    expect(refused.json['detail']).toMatch(
      /"wall screen" may not do this: it takes the role operator, and the caller has viewer/,
    );

    const elsewhere = await giveKey(orders.database, { areas: ['failures', 'outbox'] });
    const confined = await ask(elsewhere.headers.authorization);
    expect(confined).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    expect(confined.json['detail']).toMatch(/confined to failures, outbox, and this is orders/);
  });

  it('keeps a key within its partners: lists are filtered, a single order is unknown, placing is refused', async () => {
    const mine = await giveKey(orders.database, { role: 'operator', areas: ['orders'], partners: ['umbra'] });
    const [acme, umbra] = [anOrder(), anOrder({ partner: 'umbra' })];
    for (const order of [acme, umbra]) expect((await place(orders, order)).status).toBe(201);
    const list = async (query = '') =>
      (
        (await ask(mine.headers.authorization, `/v1/orders?limit=200${query}`)).json['items'] as { partner: string }[]
      ).map(({ partner }) => partner);
    expect([...new Set(await list())]).toEqual(['umbra']);
    expect(await list('&partner=acme')).toEqual([]);
    const path = (order: Record<string, unknown>) => `/v1/orders/${String(order['orderNumber'])}`;
    expect((await ask(mine.headers.authorization, path(umbra))).status).toBe(200);
    for (const suffix of ['', '/timeline']) {
      const hidden = await ask(mine.headers.authorization, path(acme) + suffix);
      const none = await ask(mine.headers.authorization, `/v1/orders/none${suffix}`);
      expect([hidden.status, hidden.json['code'], hidden.json['detail']]).toEqual([
        404,
        'order-unknown',
        none.json['detail'],
      ]);
    }
    const headers = { ...mine.headers, 'idempotency-key': 'mine' };
    const cancel = await send(orders, 'POST', `${path(acme)}/cancellation`, { reason: 'r' }, headers);
    expect(cancel).toMatchObject({ status: 404, json: { code: 'order-unknown' } });
    expect(await send(orders, 'POST', '/v1/orders', anOrder(), headers)).toMatchObject({
      status: 403,
      json: { code: 'partner-not-allowed', errors: [{ pointer: '/partner' }] },
    });
    expect((await send(orders, 'POST', '/v1/orders', anOrder({ partner: 'umbra' }), headers)).status).toBe(201);
  });

  it('names Idempotency-Keys under the key that sends them', async () => {
    const [one, two] = [await giveKey(orders.database), await giveKey(orders.database)];
    const said = await Promise.all(
      [one, two].map(({ headers }) =>
        send(orders, 'POST', '/v1/orders', anOrder(), { ...headers, 'idempotency-key': 'the-same' }),
      ),
    );
    expect(said.map(({ status }) => status)).toEqual([201, 201]);
  });

  it('notes when a key was used, behind the request, and once a minute', async () => {
    const { id, headers } = await giveKey(orders.database);
    const used = async () =>
      (
        await orders.database.query<{ at: Date | null }>('SELECT last_used_at AS at FROM api_key WHERE id = :id', {
          id,
        })
      )[0]?.at;
    expect(await used()).toBeNull();
    await ask(headers.authorization);
    const first = await eventually(used, { what: 'the use is noted' });
    expect(Math.abs(first.getTime() - Date.now())).toBeLessThan(60_000);
    // Another process that meets the key in the same minute writes nothing either.
    const other = await startOrders({ databaseUrl: urlOf(orders) });
    try {
      await send(other, 'GET', '/v1/orders', undefined, headers);
      await giveKey(other.database, { name: 'later' });
    } finally {
      await other.close();
    }
    expect(await used()).toEqual(first);
  });

  it('keeps tokens and hashes out of the log, whatever is sent and wherever it fails', async () => {
    const secret = randomBytes(20).toString('hex');
    await ask(`Bearer parley_key_0123456789ab_${secret}`);
    await ask(`Bearer ${secret}`, `/v1/orders/none`);
    const made = await send(orders, 'POST', '/v1/api-keys', {
      name: 'logged',
      role: 'viewer',
      expiresAt: new Date(Date.now() + HOUR).toISOString(),
    });
    const token = String(made.json['token']);
    expect((await ask(`Bearer ${token}`)).status).toBe(200);
    const hashes = await orders.database.query<{ hash: string }>("SELECT encode(hash, 'hex') AS hash FROM api_key");
    const secrets = [secret, token.slice(24), orders.key.token.slice(24), ...hashes.map(({ hash }) => hash)];
    const log = lines.join('\n');
    expect(log).toContain('login refused');
    for (const one of secrets) expect(log).not.toContain(one);
    const listed = await send(orders, 'GET', '/v1/api-keys?limit=200');
    for (const one of secrets) expect(listed.body).not.toContain(one);
  });
});

const urlOf = ({ database }: OrdersApp): string =>
  'url' in database.dataSource.options ? String(database.dataSource.options.url) : '';

/** A token of a known id with a made-up secret and a sound checksum. */
function signed(known: string): string {
  const text = known + randomBytes(32).toString('hex');
  return text + crc32(text).toString(16).padStart(8, '0');
}
