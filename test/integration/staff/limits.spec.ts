import { pino } from 'pino';
import { eventually } from '../../support/eventually';
import { oidcEnv, TestIssuer } from '../../support/issuer';
import { giveKey } from '../../support/staff';
import { anOrder, type OrdersApp, send, startOrders } from '../orders/orders-app';

describe('callers', () => {
  let orders: OrdersApp;
  const undo: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of undo.splice(0)) await end();
  });
  const start = async (env: NodeJS.ProcessEnv) => {
    const lines: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    orders = await startOrders({ env, logger });
    undo.push(() => orders.close());
    return lines;
  };
  const from = async (remoteAddress: string, headers: Record<string, string>, forwarded?: string) => {
    const sent = { ...headers, ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }) };
    return orders.app.inject({ method: 'GET', url: '/v1/orders', remoteAddress, headers: sent });
  };

  /** At once: one after the other, a slow machine would be let in with each of them. */
  const together = <T>(ask: (n: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: 40 }, (_, n) => ask(n)));
  const statusesOf = async (ask: (n: number) => ReturnType<typeof from>) =>
    (await together(ask)).map(({ statusCode }) => statusCode);

  it('that ask too often are told when to come back, each for itself', async () => {
    await start({ RATE_LIMIT_PER_SECOND: '1' });
    const [one, other] = [await giveKey(orders.database), await giveKey(orders.database)];
    const answers = await together(() => from('10.0.0.1', one.headers));
    const refused = answers.filter(({ statusCode }) => statusCode === 429);
    expect(refused.length).toBeGreaterThan(10);
    expect(refused[0]?.headers).toMatchObject({
      'retry-after': '1',
      'content-type': 'application/problem+json; charset=utf-8',
    });
    expect(refused[0]?.json()).toMatchObject({ code: 'rate-limited', status: 429 });
    // By address they are the same: the limit is the caller's.
    expect((await from('10.0.0.1', other.headers)).statusCode).toBe(200);
    await eventually(async () => (await from('10.0.0.1', one.headers)).statusCode === 200);
  });

  it('that come from one address have a limit together, before anybody looks at their keys', async () => {
    await start({ RATE_LIMIT_PER_ADDRESS: '1' });
    const statuses = await statusesOf(() => from('10.0.0.1', { authorization: 'Bearer x' }));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(10);
    // The second between may just be over.
    await eventually(async () => (await from('10.0.0.1', orders.key.headers)).statusCode === 429);
    expect((await from('10.0.0.2', orders.key.headers)).statusCode).toBe(200);
  });

  it('whose keys are refused again and again get 429, and lock out nobody at their address', async () => {
    const lines = await start({ LOGIN_FAILURES_PER_MINUTE: '10' });
    const statuses = [];
    const began = performance.now();
    for (let round = 0; round < 200; round++)
      statuses.push((await from('10.0.0.1', { authorization: `Bearer x${round}` })).statusCode);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    const since = 1 + Math.floor((performance.now() - began) / 6000);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10 + since);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect((await from('10.0.0.1', orders.key.headers)).statusCode).toBe(200);
    expect((await from('10.0.0.2', { authorization: 'Bearer x' })).statusCode).toBe(401);
    expect(lines.length).toBeLessThan(25);
  });

  it('whose tokens nobody can judge fill no log while the identity provider is away, however many they make up', async () => {
    const issuer = await TestIssuer.start();
    undo.push(() => issuer.stop());
    issuer.failing = 500;
    const lines = await start(oidcEnv(issuer.url));
    const headers = { authorization: `Bearer ${await issuer.token()}` };
    for (let round = 0; round < 200; round++) expect((await from('10.0.0.1', headers)).statusCode).toBe(503);
    const told = lines.filter((line) => line.includes('issuer-unavailable'));
    expect(told.length).toBeGreaterThan(1);
    // Twenty a minute and the reading's own; the minute may turn meanwhile.
    expect(told.length).toBeLessThan(50);
  });

  it('without a key have no body parsed', async () => {
    await start({});
    const broken = { 'content-type': 'application/json' };
    const stranger = await send(
      { ...orders, key: { ...orders.key, headers: {} as never } },
      'POST',
      '/v1/orders',
      '{',
      broken,
    );
    expect(stranger).toMatchObject({ status: 401, json: { code: 'unauthenticated' } });
    expect(await send(orders, 'POST', '/v1/orders', '{', broken)).toMatchObject({
      status: 400,
      json: { code: 'malformed-json' },
    });
  });

  it('have the address that a proxy of ours names, and no other one', async () => {
    await start({ HTTP_TRUSTED_PROXIES: '10.1.0.0/16, 127.0.0.1', LOGIN_FAILURES_PER_MINUTE: '100000' });
    const originOf = async (remoteAddress: string, forwarded?: string) => {
      const key = await giveKey(orders.database);
      const answer = await orders.app.inject({
        ...{ method: 'POST', url: '/v1/api-keys', remoteAddress, payload: { name: 'x', role: 'viewer' } },
        headers: { ...key.headers, ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }) },
      });
      expect(answer.statusCode).toBe(201);
      const audit = await send(orders, 'GET', `/v1/audit?caller=${key.id}`);
      return (audit.json['items'] as { origin: string }[])[0]?.origin;
    };
    expect(await originOf('10.1.2.3', '203.0.113.9')).toBe('203.0.113.9');
    // Who is no proxy of ours may say what it wants.
    expect(await originOf('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9');
    // What a client puts in front of what the proxy adds is not believed either.
    expect(await originOf('10.1.2.3', '198.51.100.1, 203.0.113.9')).toBe('203.0.113.9');
    expect(await originOf('10.1.2.3')).toBe('10.1.2.3');
  });

  it('are believed nothing where no proxy is named', async () => {
    await start({ RATE_LIMIT_PER_ADDRESS: '1' });
    const statuses = await statusesOf((n) => from('10.0.0.1', orders.key.headers, `203.0.113.${n}`));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(10);
  });

  it('place orders as before', async () => {
    await start({});
    expect((await send(orders, 'POST', '/v1/orders', anOrder(), { 'idempotency-key': 'k' })).status).toBe(201);
  });
});
