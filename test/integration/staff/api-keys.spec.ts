import { Client } from 'pg';
import type { NewApiKey } from '../../../src/staff';
import { eventually } from '../../support/eventually';
import { giveKey, type TestKey } from '../../support/staff';
import { databaseUrl, type OrdersApp, send, startOrders } from '../orders/orders-app';

const DAY = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString();

describe('API keys', () => {
  let orders: OrdersApp;
  beforeAll(async () => {
    orders = await startOrders();
  });
  afterAll(() => orders.close());

  const create = (body: object, key: TestKey = orders.key) =>
    send(orders, 'POST', '/v1/api-keys', body, { ...key.headers });
  const audited = (action: string) =>
    orders.database.query<Record<string, unknown>>(
      'SELECT caller, caller_name, role, action, object, reason, detail, origin FROM audit_entry WHERE action = :action ORDER BY id DESC',
      { action },
    );

  it('are made with a token that is shown once, opens what it is for, and is kept nowhere', async () => {
    const wanted = { name: 'ERP', role: 'operator', areas: ['orders'], partners: ['acme'], expiresAt: inDays(90) };
    const made = await create(wanted);
    expect(made).toMatchObject({
      status: 201,
      json: { ...wanted, createdBy: orders.key.id, lastUsedAt: null, revokedAt: null },
    });
    const { id, token } = made.json as { id: string; token: string };
    expect(made.headers).toMatchObject({ location: `/v1/api-keys/${id}`, 'cache-control': 'no-store' });
    expect((await send(orders, 'GET', '/v1/orders', undefined, { authorization: `Bearer ${token}` })).status).toBe(200);

    const { token: _, ...shown } = made.json;
    const show = async () => (await send(orders, 'GET', `/v1/api-keys/${id}`)).json;
    const used = await eventually(async () => ((await show())['lastUsedAt'] === null ? null : show()));
    expect(used).toEqual({ ...shown, lastUsedAt: used['lastUsedAt'] });
    const client = new Client({ connectionString: databaseUrl(orders.database) });
    await client.connect();
    const { rows } = await client.query<{ row: string }>(
      'SELECT t::text AS row FROM api_key t UNION ALL SELECT t::text FROM audit_entry t',
    );
    await client.end();
    for (const { row } of rows) expect(row).not.toContain(token.slice('parley_key_0123456789ab_'.length));

    const [entry] = await audited('api-key.create');
    expect(entry).toEqual({
      ...{
        caller: orders.key.id,
        caller_name: 'test',
        role: 'admin',
        action: 'api-key.create',
        object: `api-key/${id}`,
      },
      ...{ reason: null, detail: wanted, origin: '127.0.0.1' },
    });
  });

  it.each([
    ['no name', { role: 'viewer' }, '/name'],
    ['a name that draws on a terminal', { name: 'a\u001b[2J', role: 'viewer' }, '/name'],
    ['a role that is none', { name: 'x', role: 'root' }, '/role'],
    ['an area that is none', { name: 'x', role: 'viewer', areas: ['orders', 'kitchen'] }, '/areas'],
    ['no area at all', { name: 'x', role: 'viewer', areas: [] }, '/areas'],
    ['an area twice', { name: 'x', role: 'viewer', areas: ['orders', 'orders'] }, '/areas'],
    ['a partner that can be none', { name: 'x', role: 'viewer', partners: ['Acme'] }, '/partners'],
    ['an end that has passed', { name: 'x', role: 'viewer', expiresAt: '2026-01-01T00:00:00Z' }, '/expiresAt'],
    ['an end that is no time', { name: 'x', role: 'viewer', expiresAt: 'tomorrow' }, '/expiresAt'],
    ['a secret of its own', { name: 'x', role: 'viewer', token: 'mine' }, '/token'],
  ])('are not made with %s', async (_, body, pointer) => {
    const before = (await audited('api-key.create')).length;
    const answer = await create(body);
    expect(answer).toMatchObject({ status: 400, json: { code: 'request-invalid' } });
    expect(JSON.stringify(answer.json['errors'])).toContain(pointer);
    expect(await audited('api-key.create')).toHaveLength(before);
  });

  describe('make no key that may more than themselves', () => {
    const scoped: Partial<NewApiKey> = { areas: ['staff', 'orders'], partners: ['acme'] };
    const key = { name: 'child', role: 'viewer', areas: ['orders'], partners: ['acme'] };

    it.each([
      ['areas', '/areas', { ...key, areas: ['orders', 'failures'] }],
      ['all areas', '/areas', { name: 'child', role: 'viewer', partners: ['acme'] }],
      ['partners', '/partners', { ...key, partners: ['acme', 'umbra'] }],
      ['all partners', '/partners', { name: 'child', role: 'viewer', areas: ['orders'] }],
    ])('by their %s', async (_, pointer, body) => {
      const maker = await giveKey(orders.database, scoped);
      const answer = await create(body, maker);
      expect(answer).toMatchObject({ status: 403, json: { code: 'api-key-exceeds-caller', errors: [{ pointer }] } });
      expect((await create(key, maker)).status).toBe(201);
    });

    it('by their end', async () => {
      const maker = await giveKey(orders.database, { expiresAt: new Date(Date.now() + 10 * DAY) });
      const body = { name: 'child', role: 'admin' };
      for (const more of [{}, { expiresAt: inDays(11) }]) {
        expect(await create({ ...body, ...more }, maker)).toMatchObject({
          status: 403,
          json: { code: 'api-key-exceeds-caller', errors: [{ pointer: '/expiresAt' }] },
        });
      }
      expect((await create({ ...body, expiresAt: inDays(9) }, maker)).status).toBe(201);
    });

    it('when they were revoked elsewhere a moment ago, which this process has not read yet', async () => {
      const maker = await giveKey(orders.database);
      expect((await send(orders, 'GET', '/v1/api-keys', undefined, { ...maker.headers })).status).toBe(200);
      await orders.database.query('UPDATE api_key SET revoked_at = now() WHERE id = :id', { id: maker.id });
      expect((await create({ name: 'child', role: 'viewer' }, maker)).status).toBe(401);
    });
  });

  it('are revoked once, with the reason in the audit', async () => {
    const { id } = await giveKey(orders.database);
    const revoke = (reason: string) => send(orders, 'POST', `/v1/api-keys/${id}/revocation`, { reason });
    const first = await revoke('the laptop was lost');
    expect(first).toMatchObject({ status: 200, json: { id, revokedAt: expect.any(String) as string } });
    expect((await revoke('again')).json).toEqual(first.json);
    const entries = (await audited('api-key.revoke')).filter(({ object }) => object === `api-key/${id}`);
    expect(entries).toMatchObject([{ caller: orders.key.id, reason: 'the laptop was lost' }]);
    for (const path of ['/v1/api-keys/key_000000000000', '/v1/api-keys/x'])
      expect(await send(orders, 'POST', `${path}/revocation`, {})).toMatchObject({
        status: 404,
        json: { code: 'api-key-unknown' },
      });
  });

  it('are revoked after what they are making: whoever then looks what a key made finds all of it', async () => {
    const maker = await giveKey(orders.database, { name: 'maker' });
    const client = new Client({ connectionString: databaseUrl(orders.database) });
    await client.connect();
    try {
      // The key is made, and its audit waits.
      await client.query('BEGIN; LOCK TABLE audit_entry IN SHARE MODE');
      const waiting = (statement: string) =>
        eventually(
          async () =>
            (
              await orders.database.query(
                `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE :statement`,
                { statement },
              )
            ).length === 1,
          { what: `one waits: ${statement}` },
        );
      const made = create({ name: 'late', role: 'viewer' }, maker);
      await waiting('%INSERT INTO audit_entry%');
      const revoked = send(orders, 'POST', `/v1/api-keys/${maker.id}/revocation`, {});
      await waiting('UPDATE api_key SET revoked_at%');
      await client.query('COMMIT');
      expect([(await made).status, (await revoked).status]).toEqual([201, 200]);
    } finally {
      await client.end();
    }
    const actions = await orders.database.query<{ action: string }>(
      'SELECT action FROM audit_entry ORDER BY id DESC LIMIT 2',
    );
    expect(actions.map(({ action }) => action)).toEqual(['api-key.revoke', 'api-key.create']);
  });

  it('are listed newest first, page by page', async () => {
    for (let count = 0; count < 5; count++) await giveKey(orders.database, { name: `listed ${count}` });
    const ids: string[] = [];
    let path = '/v1/api-keys?limit=2';
    for (let pages = 0; pages < 50; pages++) {
      const { status, json, headers } = await send(orders, 'GET', path);
      expect(status).toBe(200);
      ids.push(...(json['items'] as { id: string }[]).map(({ id }) => id));
      if (json['nextCursor'] === null) break;
      path = /<(.*)>; rel="next"/.exec(String(headers['link']))?.[1] ?? '';
    }
    const rows = await orders.database.query<{ id: string }>(
      'SELECT id FROM api_key ORDER BY created_at DESC, id DESC',
    );
    expect(ids).toEqual(rows.map(({ id }) => id));
    expect(await send(orders, 'GET', '/v1/api-keys?cursor=eA')).toMatchObject({
      status: 400,
      json: { code: 'cursor-invalid' },
    });
  });

  it('that are confined to a partner see, show and revoke those of this partner alone', async () => {
    const admin = await giveKey(orders.database, { partners: ['umbra'], name: 'umbra admin' });
    const own = await giveKey(orders.database, { partners: ['umbra'], name: 'own' });
    const others = [await giveKey(orders.database, { partners: ['acme', 'umbra'] }), await giveKey(orders.database)];
    const listed = (await send(orders, 'GET', '/v1/api-keys?limit=200', undefined, { ...admin.headers })).json['items'];
    expect((listed as { id: string }[]).map(({ id }) => id).sort()).toEqual([admin.id, own.id].sort());
    for (const { id } of others) {
      const path = `/v1/api-keys/${id}`;
      expect((await send(orders, 'GET', path, undefined, { ...admin.headers })).status).toBe(404);
      expect((await send(orders, 'POST', `${path}/revocation`, {}, { ...admin.headers })).status).toBe(404);
    }
    const revoked = await send(orders, 'POST', `/v1/api-keys/${own.id}/revocation`, {}, { ...admin.headers });
    expect(revoked.status).toBe(200);
  });
});
