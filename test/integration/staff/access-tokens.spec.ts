import { createHmac, createPublicKey, type JsonWebKeyInput } from 'node:crypto';
import { pino } from 'pino';
import { AUDIENCE, oidcEnv, signingKey, TestIssuer } from '../../support/issuer';
import { eventually } from '../../support/eventually';
import { anOrder, type OrdersApp, send, startOrders } from '../orders/orders-app';

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const seconds = (): number => Math.floor(Date.now() / 1000);

describe('an access token', () => {
  let issuer: TestIssuer;
  let orders: OrdersApp;
  const lines: string[] = [];

  beforeAll(async () => {
    issuer = await TestIssuer.start();
    const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    orders = await startOrders({ logger, env: oidcEnv(issuer.url, { LOGIN_FAILURES_PER_MINUTE: '100000' }) });
  });
  afterAll(async () => {
    await orders?.close();
    await issuer?.stop();
  });

  const ask = (token: string, path = '/v1/orders') =>
    send(orders, 'GET', path, undefined, { authorization: `Bearer ${token}` });
  const parts = async (claims = {}, options = {}) =>
    (await issuer.token(claims, options)).split('.') as [string, string, string];

  it('opens what its role opens, under a name and an id that stay', async () => {
    for (const [roles, isLetIn] of [
      [['parley-ops', 'offline_access'], true],
      [['parley-viewers', 'parley-ops'], true],
      [['parley-desk'], false],
    ] as const) {
      const headers = { authorization: `Bearer ${await issuer.token({ realm_access: { roles } })}` };
      const answer = await send(orders, 'POST', '/v1/orders', anOrder(), {
        ...headers,
        'idempotency-key': 'tokens' + roles.join(),
      });
      expect([roles, answer.status]).toEqual([roles, isLetIn ? 201 : 403]);
    }
    const made = async (sub: string) => {
      const headers = { authorization: `Bearer ${await issuer.token({ sub })}` };
      return (await send(orders, 'POST', '/v1/api-keys', { name: 'x', role: 'viewer' }, headers)).json['createdBy'];
    };
    const [kate, again, other] = [await made('kate'), await made('kate'), await made('Kate')];
    expect(kate).toMatch(/^oidc:[\w-]{22}$/);
    expect([again === kate, other === kate]).toEqual([true, false]);
    const audit = await send(orders, 'GET', `/v1/audit?caller=${String(kate)}`);
    expect(audit.json['items']).toEqual([
      expect.objectContaining({ callerName: 'kate', role: 'admin' }),
      expect.objectContaining({ callerName: 'kate', role: 'admin' }),
    ]);
  });

  it('leaves API keys what they were', async () => {
    expect((await send(orders, 'GET', '/v1/orders')).status).toBe(200);
    expect((await ask(`${orders.key.token}0`)).status).toBe(401);
  });

  it('is told who it cannot be told from: what is neither key nor token', async () => {
    const answer = await ask('x.y');
    expect([answer.status, answer.json['detail']]).toEqual([
      401,
      expect.stringContaining('neither an API key nor an access token'),
    ]);
  });

  const past = { iat: seconds() - 1000, exp: seconds() - 100 };
  it.each<[string, () => Promise<string>, RegExp]>([
    ['has expired', () => issuer.token(past), /has expired/],
    ['never expires', () => issuer.token({ exp: undefined }), /no claim "exp"/],
    ['is not valid yet', () => issuer.token({ nbf: seconds() + 100 }), /not valid yet/],
    ['is for another application', () => issuer.token({ aud: 'shop' }), /its audience is another/],
    ['is for nobody', () => issuer.token({ aud: undefined }), /its audience is another/],
    ['is of another issuer', () => issuer.token({ iss: 'https://evil.example' }), /another issuer/],
    ['is of an issuer that differs by a slash', () => issuer.token({ iss: `${issuer.url}/` }), /another issuer/],
    ['speaks of nobody', () => issuer.token({ sub: undefined }), /no claim "sub"/],
    ['speaks of a number', () => issuer.token({ sub: 7, preferred_username: undefined }), /"sub".*not sound/],
    ['speaks of an empty name', () => issuer.token({ sub: '' }), /"sub".*not sound/],
    ['is an ID token', () => issuer.token({ nonce: 'n', at_hash: 'h' }), /another kind/],
    ['is a logout token', () => issuer.token({}, { header: { typ: 'logout+jwt' } }), /another kind/],
    ['is a refresh token, as Keycloak says it', () => issuer.token({ typ: 'Refresh' }), /another kind/],
    ['is bound to a key of its owner', () => issuer.token({ cnf: { jkt: 'x' } }), /bound to a key/],
    ['is not signed', async () => `${base64({ alg: 'none', typ: 'at+jwt' })}.${(await parts())[1]}.`, /algorithm/],
    ['was signed with the public key as an HMAC secret', hmacOf, /algorithm/],
    [
      'was changed',
      async () => {
        const [head, , signature] = await parts({ realm_access: { roles: ['parley-viewers'] } });
        return `${head}.${(await parts())[1]}.${signature}`;
      },
      /signature/,
    ],
    [
      'was signed by a key of somebody else under a known name',
      async () => {
        const { kid } = issuer.keys[0] ?? { kid: '' };
        return issuer.token({}, { key: { ...(await signingKey()), kid } });
      },
      /signature/,
    ],
    [
      'was signed by a key of somebody else',
      async () => issuer.token({}, { key: await signingKey() }),
      /does not publish/,
    ],
    [
      'names a file as its key',
      async () => issuer.token({}, { key: { ...(await signingKey()), kid: '../../../../dev/null' } }),
      /does not publish/,
    ],
    [
      'names SQL as its key',
      async () => issuer.token({}, { key: { ...(await signingKey()), kid: "' OR 1=1 --" } }),
      /does not publish/,
    ],
    [
      'asks for an extension that nobody knows',
      () => issuer.token({}, { header: { crit: ['x'], x: 1 } }).catch(critOf),
      /not a sound/,
    ],
    ['is not JSON inside', () => Promise.resolve(`${Buffer.from('{').toString('base64url')}.e30.AA`), /not a sound/],
    ['is larger than any', () => issuer.token({ groups: 'x'.repeat(9000) }), /longer than 8192/],
  ])('that %s opens nothing, and the answer says so without quoting it', async (_, make, detail) => {
    const token = await make();
    const answer = await ask(token);
    expect(answer).toMatchObject({ status: 401, json: { code: 'unauthenticated' } });
    expect(answer.json['detail']).toMatch(detail);
    expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
    for (const part of token.split('.')) if (part.length > 12) expect(answer.body).not.toContain(part.slice(0, 12));
  });

  async function hmacOf(): Promise<string> {
    const jwk = issuer.keys[0]?.publicJwk as JsonWebKeyInput['key'];
    const secret = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const text = `${base64({ alg: 'HS256', typ: 'at+jwt', kid: issuer.keys[0]?.kid })}.${(await parts())[1]}`;
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  }

  async function critOf(): Promise<string> {
    const [, payload, signature] = await parts();
    return `${base64({ alg: 'ES256', kid: issuer.keys[0]?.kid, crit: ['x'], x: 1 })}.${payload}.${signature}`;
  }

  it('says where its key is, and nobody goes there', async () => {
    const thief = await TestIssuer.start();
    try {
      const key = await signingKey();
      thief.keys = [key];
      const before = thief.asked.length;
      for (const header of [
        { jku: `${thief.url}/jwks` },
        { x5u: `${thief.url}/jwks` },
        { jwk: key.publicJwk },
        { x5c: ['MIIB'] },
      ])
        expect((await ask(await issuer.token({}, { key, header }))).status).toBe(401);
      // As its own issuer it is none of ours either.
      expect((await ask(await thief.token())).status).toBe(401);
      expect(thief.asked.length).toBe(before);
    } finally {
      await thief.stop();
    }
  });

  it.each([
    ['nowhere', {}, /no claim "realm_access" → "roles", which would say its role/],
    ['where members of every object are', { realm_access: [] }, /no claim/],
    ['as a number', { realm_access: { roles: 7 } }, /no claim/],
    [
      'that nobody has mapped',
      { realm_access: { roles: ['admin', 'viewer'] } },
      /names none of the roles in OIDC_ROLE_MAP/,
    ],
  ])(
    'without a role, or with one %s, is forbidden, and the answer says which claim was looked for',
    async (_, claims, detail) => {
      const answer = await ask(await issuer.token({ realm_access: undefined, ...claims }));
      expect(answer).toMatchObject({ status: 403, json: { code: 'forbidden' } });
      expect(answer.json['detail']).toMatch(detail);
      expect(answer.headers['www-authenticate']).toBeUndefined();
    },
  );

  it('takes the clocks of both sides to be half a minute apart, and no more', async () => {
    expect((await ask(await issuer.token({ exp: seconds() - 15 }))).status).toBe(200);
    expect((await ask(await issuer.token({ exp: seconds() - 45 }))).status).toBe(401);
    expect((await ask(await issuer.token({ nbf: seconds() + 15 }))).status).toBe(200);
  });

  it('may be made for several, and signed by any algorithm with a public key', async () => {
    const rsa = await signingKey('RS256');
    const curve = await signingKey('EdDSA');
    issuer.keys = [...issuer.keys, rsa, curve];
    await eventually(async () => (await ask(await issuer.token({}, { key: rsa }))).status === 200, { timeout: 40_000 });
    expect((await ask(await issuer.token({ aud: ['shop', AUDIENCE] }, { key: curve }))).status).toBe(200);
    expect((await ask(await issuer.token({}, { key: rsa, header: { typ: 'JWT' } }))).status).toBe(200);
  });

  it('leaves no trace of itself in the log', async () => {
    const [head, payload, signature] = await parts();
    await ask(`${head}.${payload}.${signature}`);
    await ask(`${head}.${payload}.AAAA`);
    const log = lines.join('\n');
    expect(log).toContain('login refused');
    for (const part of [payload, signature]) expect(log).not.toContain(part);
  });
});

describe('an identity provider', () => {
  const undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of undo.splice(0).reverse()) await end();
  });
  const start = async (change: NodeJS.ProcessEnv = {}, failing?: number) => {
    const issuer = await TestIssuer.start();
    undo.push(() => issuer.stop());
    issuer.failing = failing;
    const orders = await startOrders({ env: oidcEnv(issuer.url, change) });
    undo.push(() => orders.close());
    const ask = (token: string) => send(orders, 'GET', '/v1/orders', undefined, { authorization: `Bearer ${token}` });
    return { issuer, ask };
  };

  it('that is away does not keep Parley from starting: tokens get 503, not 401, until it is there', async () => {
    const { issuer, ask } = await start({}, 502);
    const refused = await ask(await issuer.token());
    expect(refused).toMatchObject({ status: 503, json: { code: 'issuer-unavailable' } });
    expect(refused.headers['retry-after']).toBe('2');
    issuer.failing = undefined;
    await eventually(async () => (await ask(await issuer.token())).status === 200, { timeout: 40_000 });
  });

  it('that goes away takes nobody with it whose key is known; of an unknown one nobody can tell', async () => {
    const { issuer, ask } = await start();
    expect((await ask(await issuer.token())).status).toBe(200);
    issuer.failing = 500;
    const next = await signingKey();
    await eventually(async () => (await ask(await issuer.token({}, { key: next }))).status === 503, {
      timeout: 40_000,
    });
    expect((await ask(await issuer.token())).status).toBe(200);
  });

  it('changes its keys, and is not asked for each made-up one', async () => {
    const { issuer, ask } = await start({ LOGIN_FAILURES_PER_MINUTE: '100000' });
    expect((await ask(await issuer.token())).status).toBe(200);
    const asked = issuer.asked.length;
    const began = performance.now();
    for (let round = 0; round < 200; round++)
      expect((await ask(await issuer.token({}, { key: { ...issuer.keys[0]!, kid: `made-up-${round}` } }))).status).toBe(
        401,
      );
    const allowed = 2 * (1 + Math.floor((performance.now() - began) / 5000));
    expect(issuer.asked.length - asked).toBeLessThanOrEqual(allowed);
    issuer.keys = [await signingKey()];
    await eventually(async () => (await ask(await issuer.token())).status === 200, { timeout: 40_000 });
  });

  it('that its discovery document calls otherwise is not believed', async () => {
    const { issuer, ask } = await start();
    issuer.calledOtherwise = 'https://evil.example';
    expect((await ask(await issuer.token())).status).toBe(503);
  });

  it('confines people where claims for that are named, and a token without them may nothing', async () => {
    const { issuer, ask } = await start({
      OIDC_AREAS_CLAIM: 'parley_areas',
      OIDC_PARTNERS_CLAIM: '["https://example.com/partners"]',
      OIDC_NAME_CLAIM: 'name',
      OIDC_ROLE_CLAIM: 'scope',
    });
    const claims = { scope: 'openid parley-viewers', name: 'Kate‮ M', 'https://example.com/partners': ['acme'] };
    expect((await ask(await issuer.token({ ...claims, parley_areas: 'orders outbox' }))).status).toBe(200);
    expect((await ask(await issuer.token({ ...claims, parley_areas: '*' }))).status).toBe(200);
    const elsewhere = await ask(await issuer.token({ ...claims, parley_areas: ['failures', 'nonsense'] }));
    expect(elsewhere.json['detail']).toMatch(/"Kate M" may not do this: the caller is confined to failures, and/);
    for (const lacks of [{ ...claims }, { ...claims, parley_areas: '*', 'https://example.com/partners': undefined }]) {
      const answer = await ask(await issuer.token(lacks));
      expect([answer.status, answer.json['detail']]).toEqual([403, expect.stringContaining('what it is confined to')]);
    }
  });
});
