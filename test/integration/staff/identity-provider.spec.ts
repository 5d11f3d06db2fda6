import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { eventually } from '../../support/eventually';
import { AUDIENCE, oidcEnv } from '../../support/issuer';
import { anOrder, type OrdersApp, send, startOrders } from '../orders/orders-app';

const SECRET = 'of-the-desk-and-of-nobody-else';

/** A certified provider as it comes: discovery, published keys, client credentials, access tokens of RFC 9068. */
const providerAt = async (issuer: string, alg: string): Promise<RequestListener> => {
  const { Provider } = await import('oidc-provider');
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: `${alg}-1`, alg, use: 'sig' };
  const provider = new Provider(issuer, {
    clients: ['desk', 'stranger'].map((name) => ({
      ...{ client_id: name, client_secret: SECRET, redirect_uris: [], response_types: [] },
      ...{ grant_types: ['client_credentials'], id_token_signed_response_alg: alg },
    })),
    jwks: { keys: [key] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:parley',
        getResourceServerInfo: () => ({
          ...{ scope: 'read', audience: AUDIENCE, accessTokenFormat: 'jwt', jwt: { sign: { alg } } },
        }),
      },
    },
    extraTokenClaims: (_: unknown, { clientId }: { clientId: string }) =>
      clientId === 'desk' ? { realm_access: { roles: ['parley-desk'] }, preferred_username: 'support desk' } : {},
  });
  return provider.callback();
};

describe('a real identity provider', () => {
  let orders: OrdersApp;
  let listener: RequestListener = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  let issuer: string;

  beforeAll(async () => {
    // It warns of what is right in a test: everything in memory, a Node newer than it knows.
    for (const level of ['warn', 'info'] as const) jest.spyOn(console, level).mockImplementation(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    listener = await providerAt(issuer, 'ES256');
    orders = await startOrders({ env: oidcEnv(issuer, { LOGIN_FAILURES_PER_MINUTE: '100000' }) });
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await orders?.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const tokenOf = async (client: string): Promise<string> => {
    const answer = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'read' }),
    });
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  const ask = (token: string, method: 'GET' | 'POST' = 'GET', body?: unknown) =>
    send(orders, method, '/v1/orders', body, { authorization: `Bearer ${token}`, 'idempotency-key': 'idp' });

  it('signs staff in, with the role that its claim gives and no other', async () => {
    const token = await tokenOf('desk');
    expect((await ask(token)).status).toBe(200);
    const refused = await ask(token, 'POST', anOrder());
    expect([refused.status, refused.json['detail']]).toEqual([
      403,
      expect.stringContaining('"support desk" may not do this: it takes the role operator, and the caller has support'),
    ]);
    expect(await ask(await tokenOf('stranger'))).toMatchObject({ status: 403, json: { code: 'forbidden' } });
  });

  it('changes its keys and their algorithm, and tokens of the old ones end with what is published', async () => {
    const old = await tokenOf('desk');
    expect((await ask(old)).status).toBe(200);
    listener = await providerAt(issuer, 'RS256');
    const token = await tokenOf('desk');
    await eventually(async () => (await ask(token)).status === 200, { timeout: 40_000 });
    expect(await ask(old)).toMatchObject({ status: 401, json: { code: 'unauthenticated' } });
  });
});
