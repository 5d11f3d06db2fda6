import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../../scripts/servers/index.mjs';
import { ApiClient } from '../../../src/cli/api-client';
import { exitCodeOf } from '../../../src/cli/exit-code';
import type { AppError } from '../../../src/platform/errors';
import { oidcEnv, TestIssuer } from '../../support/issuer';
import { giveKey } from '../../support/staff';
import { anOrder, type OrdersApp, startOrders } from '../orders/orders-app';

const failure = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => Promise.reject(new Error('it succeeded')),
    (error: unknown) => error as AppError,
  );
const causeOf = ({ cause }: AppError): string => (cause instanceof Error ? cause.message : '');

describe("the commands' way to the API", () => {
  let orders: OrdersApp;
  let url: string;

  beforeAll(async () => {
    orders = await startOrders();
    await orders.app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(orders.app.getHttpServer().address() as AddressInfo).port}`;
  });
  afterAll(() => orders.close());

  const clientWith = (key: string, at = url) => ApiClient.fromEnvironment({ PARLEY_URL: at, PARLEY_API_KEY: key });
  const place = (client: ApiClient, order: Record<string, unknown>, key: string) =>
    client.ask<{ orderNumber: string }>('POST', '/v1/orders', { body: order, headers: { 'idempotency-key': key } });

  it('sends what it is told with the key, and gives back status, body, tag and place', async () => {
    const client = clientWith(orders.key.token);
    const order = anOrder();
    const answer = await place(client, order, 'cli-1');
    expect(answer).toMatchObject({
      ...{ status: 201, etag: '"1"', location: `/v1/orders/${String(order['orderNumber'])}` },
      body: { orderNumber: order['orderNumber'], state: 'placed' },
    });
    const path = answer.location ?? '';
    expect(await client.get(path)).toEqual(answer.body);
    const again = await client.ask('GET', path, { headers: { 'if-none-match': '"1"' } });
    expect(again).toMatchObject({ status: 304, body: undefined });
  });

  it('reads a list to its end, with the filter on every page', async () => {
    const client = clientWith(orders.key.token);
    const numbers: unknown[] = [];
    for (let count = 0; count < 5; count++) {
      const order = anOrder({ partner: 'umbra' });
      numbers.unshift(order['orderNumber']);
      await place(client, order, `listed-${count}`);
      await place(client, anOrder(), `other-${count}`);
    }
    const found: string[] = [];
    for await (const order of client.all<{ orderNumber: string }>('/v1/orders', { partner: 'umbra', limit: 2 }))
      found.push(order.orderNumber);
    expect(found).toEqual(numbers);
  });

  it.each([
    [{}, 'unauthenticated', /names no API key/, /Set PARLEY_API_KEY/],
    [{ PARLEY_API_KEY: ' ' }, 'unauthenticated', /names no API key/, /Set PARLEY_API_KEY/],
    [{ PARLEY_API_KEY: 'k', PARLEY_URL: 'localhost:3000' }, 'api-url-invalid', /PARLEY_URL/, /such as http:/],
    [{ PARLEY_API_KEY: 'k', PARLEY_URL: 'http://me:secret@host' }, 'api-url-invalid', /PARLEY_URL/, /such as http:/],
  ])('refuses the environment %j before it asks anybody', (env, code, message, hint) => {
    let thrown: unknown;
    try {
      ApiClient.fromEnvironment(env);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
      hint: expect.stringMatching(hint) as string,
    });
    expect(String(thrown)).not.toContain('secret');
    expect(exitCodeOf(thrown)).toBe(code === 'unauthenticated' ? 5 : 1);
  });

  it('tells a refusal as one sentence, its cause and what to do next, and ends with 5 where it is one of rights', async () => {
    const wrong = await failure(clientWith('nonsense').get('/v1/orders'));
    expect(wrong).toMatchObject({ code: 'unauthenticated', message: 'Who is calling is not known.' });
    expect(causeOf(wrong)).toContain('What was sent is not an API key.');
    expect(wrong.hint).toContain('Set PARLEY_API_KEY to a valid key');

    const viewer = await giveKey(orders.database, { role: 'viewer' });
    const forbidden = await failure(place(clientWith(viewer.token), anOrder(), 'cli-2'));
    expect(forbidden).toMatchObject({
      code: 'forbidden',
      message: 'The caller may not do this.',
      hint: `See ${url}/docs/problems/forbidden`,
    });
    expect(causeOf(forbidden)).toContain('it takes the role operator');

    const umbra = await giveKey(orders.database, { partners: ['umbra'] });
    const confined = await failure(place(clientWith(umbra.token), anOrder(), 'cli-3'));
    expect([wrong, forbidden, confined].map(exitCodeOf)).toEqual([5, 5, 5]);
  });

  it('takes an access token before a key, and says that tokens end', async () => {
    const both = { PARLEY_URL: url, PARLEY_API_KEY: orders.key.token, PARLEY_TOKEN: 'a.b.c' };
    const error = await failure(ApiClient.fromEnvironment(both).get('/v1/orders'));
    expect([error.code, exitCodeOf(error)]).toEqual(['unauthenticated', 5]);
    expect(error.hint).toMatch(/PARLEY_TOKEN to a new access token/);
    expect(String(error)).not.toContain('a.b.c');
    await ApiClient.fromEnvironment({ ...both, PARLEY_TOKEN: ' ' }).get('/v1/orders');
    const issuer = await TestIssuer.start();
    const signedIn = await startOrders({ env: oidcEnv(issuer.url) });
    try {
      await signedIn.app.listen(0, '127.0.0.1');
      const { port } = signedIn.app.getHttpServer().address() as AddressInfo;
      const env = { PARLEY_URL: `http://127.0.0.1:${port}`, PARLEY_TOKEN: await issuer.token() };
      expect(await ApiClient.fromEnvironment(env).get('/v1/orders')).toMatchObject({ items: [] });
    } finally {
      await signedIn.app.close();
      await issuer.stop();
    }
  });

  it('names every violated rule, and ends with 1', async () => {
    const order = anOrder({ currency: 'euro', partner: 'Acme' });
    const error = await failure(place(clientWith(orders.key.token), order, 'cli-4'));
    expect(error).toMatchObject({ code: 'request-invalid', retriable: false });
    expect(causeOf(error)).toMatch(/\/partner must be.*\/currency must be/);
    expect(exitCodeOf(error)).toBe(1);
  });

  describe('where something else answers', () => {
    const servers: Server[] = [];
    afterAll(() => servers.forEach((server) => server.close()));

    const serve = async (answer: RequestListener): Promise<string> => {
      const server = createServer(answer);
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };

    it('says that nobody is there', async () => {
      const nobody = `http://127.0.0.1:${await freePort()}`;
      const error = await failure(clientWith('k', nobody).get('/v1/orders'));
      expect(error).toMatchObject({
        code: 'api-unreachable',
        message: `The API at ${nobody} cannot be reached.`,
      });
      expect(causeOf(error)).toContain('ECONNREFUSED');
      expect(error.hint).toContain('PARLEY_URL');
    });

    it('hands the key to no other host that an answer names', async () => {
      const heard: (string | undefined)[] = [];
      const other = await serve((request, response) => {
        heard.push(request.headers.authorization);
        response.end('{}');
      });
      const moved = await serve((_, response) => response.writeHead(307, { location: `${other}/v1/orders` }).end());
      expect((await failure(clientWith('k', moved).get('/v1/orders'))).code).toBe('api-unreachable');
      expect(heard).toEqual([]);
    });

    it.each([
      ['a page', 200, '<html>welcome</html>', /not Parley's API/],
      ["a proxy's error", 502, '<html>bad gateway</html>', /answered 502/],
      ['a JSON error of another kind', 400, '{"error":"no"}', /answered 400/],
    ])('tells %s from an answer of ours', async (_, status, body, message) => {
      const at = await serve((_request, response) =>
        response.writeHead(status, { 'content-type': 'text/html' }).end(body),
      );
      const error = await failure(clientWith('k', at).get('/v1/orders'));
      expect(error).toMatchObject({ code: 'api-unreachable', message: expect.stringMatching(message) as string });
    });

    it('ends with 4 where a plan has changed, and says after how long to try again', async () => {
      const problem = (status: number, code: string) =>
        serve((_, response) =>
          response
            .writeHead(status, {
              'content-type': 'application/problem+json',
              ...(status === 503 ? { 'retry-after': '2' } : {}),
            })
            .end(
              JSON.stringify({
                title: 'A title',
                detail: 'A detail.',
                code,
                status,
                type: `/docs/problems/${code}`,
                traceId: 't',
              }),
            ),
        );
      const changed = await failure(clientWith('k', await problem(409, 'plan-changed')).get('/v1/replays'));
      expect([exitCodeOf(changed), changed.hint]).toEqual([4, expect.stringContaining('/docs/problems/plan-changed')]);
      const down = await failure(clientWith('k', await problem(503, 'database-unavailable')).get('/v1/replays'));
      expect([exitCodeOf(down), down.hint, down.retriable]).toEqual([1, 'Try again in 2 s.', true]);
    });

    it('keeps a path that the API has behind a proxy', async () => {
      const paths: (string | undefined)[] = [];
      const at = await serve((request, response) => {
        paths.push(request.url);
        response.end('{}');
      });
      await clientWith('k', `${at}/parley/`).get('/v1/orders', { partner: 'a&b', state: undefined });
      expect(paths).toEqual(['/parley/v1/orders?partner=a%26b']);
    });
  });
});
