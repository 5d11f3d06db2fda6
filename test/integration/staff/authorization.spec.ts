import type { OpenAPIObject } from '@nestjs/swagger';
import { Database } from '../../../src/platform/database';
import { openApi } from '../../../src/platform/http';
import { createLogger } from '../../../src/platform/telemetry';
import { AREAS, reaches, ROLES } from '../../../src/staff';
import { newToken } from '../../../src/staff/api-key-token';
import { type Running, start } from '../../../src/start';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { oidcEnv, ROLE_MAP, TestIssuer } from '../../support/issuer';
import { type Method, type NamedOperation, operationsOf } from '../../support/operations';
import { giveKey } from '../../support/staff';

// Made from the API description of the whole program: an operation that comes is tried without a word here.
describe('every operation of the API', () => {
  let running: Running;
  let issuer: TestIssuer;
  let document: OpenAPIObject;
  let operations: (NamedOperation & { url: string })[];

  beforeAll(async () => {
    issuer = await TestIssuer.start();
    const env = oidcEnv(issuer.url, { ROLES: 'api', LOGIN_FAILURES_PER_MINUTE: '1000000' });
    running = await start(testConfig(await freshDatabase(), env), createLogger('silent', 'test'));
    await running.started;
    document = openApi(running.app);
    operations = operationsOf(document).map((one) => ({ ...one, url: one.path.replace(/\{[^}]+\}/g, '0') }));
  });
  afterAll(async () => {
    await running?.lifecycle.stop('test');
    await issuer?.stop();
  });

  const ask = async ({ method, url }: { method: Method; url: string }, headers: Record<string, string> = {}) => {
    const answer = await running.app.inject({
      method,
      url,
      headers: method === 'GET' ? headers : { ...headers, 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { payload: '{}' }),
    });
    const isJson = /json/.test(String(answer.headers['content-type']));
    const { code } = (isJson ? JSON.parse(answer.body) : {}) as { code?: string };
    return { status: answer.statusCode, code, challenge: answer.headers['www-authenticate'] };
  };

  it('says who may call it, and describes what the guard answers', () => {
    expect(operations.length).toBeGreaterThan(9);
    expect(document.components?.securitySchemes).toMatchObject({ bearer: { type: 'http', scheme: 'bearer' } });
    for (const { name, operation, least, area } of operations) {
      expect([name, ROLES.includes(least), AREAS.includes(area)]).toEqual([name, true, true]);
      expect([name, operation.security]).toEqual([name, [{ bearer: [] }]]);
      for (const [status, code] of [
        ['401', 'unauthenticated'],
        ['403', 'forbidden'],
      ] as const)
        expect([name, JSON.stringify(operation.responses[status])]).toEqual([
          name,
          expect.stringContaining(`"${code}"`),
        ]);
    }
  });

  it('lets support look at everything and viewers change nothing, and administrators alone near the keys', () => {
    for (const { name, method, least, area } of operations) {
      const fits =
        area === 'staff' ? least === 'admin' : method === 'GET' ? reaches('support', least) : reaches(least, 'support');
      expect([name, fits]).toEqual([name, true]);
    }
  });

  it('is closed to who sends no key', async () => {
    for (const operation of operations) {
      const { status, code, challenge } = await ask(operation);
      expect([operation.name, status, code, challenge]).toEqual([
        operation.name,
        401,
        'unauthenticated',
        'Bearer realm="parley"',
      ]);
    }
  });

  it('is closed to who sends anything but a good key or token', async () => {
    const expired = await giveKey(running.app.get(Database), { expiresAt: new Date(Date.now() + 300) });
    const revoked = await giveKey(running.app.get(Database));
    const revocation = `/v1/api-keys/${revoked.id}/revocation`;
    const { headers } = await giveKey(running.app.get(Database));
    expect((await ask({ method: 'POST', url: revocation }, headers)).status).toBe(200);
    await eventually(async () => (await ask({ method: 'GET', url: '/v1/orders' }, expired.headers)).status === 401);
    const past = Math.floor(Date.now() / 1000) - 3600;
    for (const [what, authorization] of [
      ['garbage', 'Bearer x'],
      ['another scheme', `Basic ${Buffer.from(headers.authorization).toString('base64')}`],
      ['a key without its scheme', headers.authorization.slice('Bearer '.length)],
      ['two keys', `${headers.authorization}, ${headers.authorization}`],
      ['a key that was never made', `Bearer ${newToken().token}`],
      ['an expired key', expired.headers.authorization],
      ['a revoked key', revoked.headers.authorization],
      ['an expired token', `Bearer ${await issuer.token({ exp: past })}`],
      ['a token for another application', `Bearer ${await issuer.token({ aud: 'shop' })}`],
      ['a token that is not signed', `Bearer ${(await issuer.token()).replace(/[^.]+$/, '')}`],
    ] as const)
      for (const operation of operations) {
        const { status, code } = await ask(operation, { authorization });
        expect([operation.name, what, status, code]).toEqual([operation.name, what, 401, 'unauthenticated']);
      }
  });

  it.each(['a key', 'an access token'])(
    'is open to the roles that reach it by %s, and closed to the others',
    async (means) => {
      const database = running.app.get(Database);
      for (const role of ROLES) {
        const name = ROLE_MAP.split(',')
          .find((pair) => pair.endsWith(`=${role}`))
          ?.split('=')[0];
        const token = await issuer.token({ realm_access: { roles: [name] }, sub: role });
        const headers =
          means === 'a key'
            ? (await giveKey(database, { role, name: role })).headers
            : { authorization: `Bearer ${token}` };
        for (const operation of operations) {
          const { status, code } = await ask(operation, headers);
          const isLetIn = status !== 401 && code !== 'forbidden';
          expect([operation.name, role, isLetIn, status < 500]).toEqual([
            ...[operation.name, role, reaches(role, operation.least), true],
          ]);
        }
      }
    },
  );

  it('is closed to an administrator of the other areas', async () => {
    const database = running.app.get(Database);
    for (const area of AREAS) {
      const { headers } = await giveKey(database, { areas: AREAS.filter((other) => other !== area) });
      for (const operation of operations.filter((one) => one.area === area)) {
        const { status, code } = await ask(operation, headers);
        expect([operation.name, status, code]).toEqual([operation.name, 403, 'forbidden']);
      }
    }
  });
});
