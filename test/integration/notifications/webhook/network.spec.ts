import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeAuthority } from '../../../../scripts/servers/index.mjs';
import type { HttpExchange } from '../../../../src/notifications/channels/http-exchange';
import { post, type Route, TargetForbidden } from '../../../../src/notifications/channels/webhook/post';
import { resolverOf } from '../../../../src/notifications/channels/webhook/resolve';
import { eventually } from '../../../support/eventually';
import { NameServer } from '../../../support/name-server';
import { RawServer, WebhookReceiver } from '../../../support/webhook-receiver';

const OWN = ['127.0.0.1', '::1'];

let names: NameServer;
let receiver: WebhookReceiver;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  names = await NameServer.start();
  receiver = await WebhookReceiver.start();
  stops.push(
    () => names.stop(),
    () => receiver.stop(),
  );
});

beforeEach(() => {
  names.asked.length = 0;
  names.answer = () => [];
  receiver.received.length = 0;
  receiver.connections = 0;
  receiver.answer = (response) => response.writeHead(204).end();
});

afterAll(() => Promise.all(stops.map((stop) => stop())));

const ask = (url: string, route: Partial<Route> = {}, signal = AbortSignal.timeout(30_000)): Promise<HttpExchange> =>
  post(
    { url: new URL(url), headers: { 'webhook-id': '1' }, body: '{}' },
    { resolve: resolverOf([names.address]), allowed: [], timeoutMs: 30_000, ...route },
    signal,
  );

const forbidden = { kind: 'failed', written: false, error: expect.any(TargetForbidden) as Error };

describe('a name', () => {
  it('that leads to this machine leads nowhere', async () => {
    names.answer = () => ['127.0.0.1'];
    expect(await ask(`https://hooks.example:${receiver.port}/`)).toEqual(forbidden);
    expect(names.asked).toEqual(['hooks.example']);
    expect(receiver.connections).toBe(0);
  });

  it.each(['10.0.0.1', '169.254.169.254', '192.168.1.1', '100.64.0.1', '0.0.0.0', '168.63.129.16'])(
    'that leads to %s leads nowhere',
    async (address) => {
      names.answer = () => [address];
      expect(await ask('https://hooks.example/')).toEqual(forbidden);
    },
  );

  it.each(['::1', '::ffff:127.0.0.1', '::7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::', 'fd00:ec2::254', 'fe80::1'])(
    'that leads to %s leads nowhere',
    async (address) => {
      const resolve = () => Promise.resolve([address]);
      expect(await ask(`https://hooks.example:${receiver.port}/`, { resolve })).toEqual(forbidden);
      expect(receiver.connections).toBe(0);
    },
  );

  it('that leads to a public address and to a private one leads nowhere', async () => {
    names.answer = () => ['8.8.8.8', '127.0.0.1'];
    expect(await ask(`https://hooks.example:${receiver.port}/`)).toEqual(forbidden);
  });

  it.each(['localhost', 'localhost.'])("of this machine's own (%s) leads nowhere", async (name) => {
    expect(await ask(`https://${name}:${receiver.port}/`)).toEqual(forbidden);
    expect(receiver.connections).toBe(0);
  });

  it('is looked up once a connection, which goes to the very address that was looked at', async () => {
    // First an address that is allowed, ever after one that is not.
    names.answer = (_, time) => (time === 1 ? ['127.0.0.1'] : ['10.0.0.1']);
    const url = `http://rebinding.example:${receiver.port}/`;
    expect(await ask(url, { allowed: ['127.0.0.1'] })).toMatchObject({ kind: 'answered', status: 204 });
    expect(names.asked).toHaveLength(1);
    expect(await ask(url, { allowed: ['127.0.0.1'] })).toEqual(forbidden);
    expect(names.asked).toHaveLength(2);
    expect(receiver.connections).toBe(1);
  });

  it('that is unknown, and one whose server is silent, cost no longer than the attempt', async () => {
    expect(await ask('https://nobody.example/')).toMatchObject({ kind: 'failed', written: false });
    names.answer = () => undefined;
    const signal = AbortSignal.timeout(300);
    const begun = performance.now();
    expect(await ask('https://silent.example/', {}, signal)).toMatchObject({ kind: 'failed', written: false });
    // Two questions of three seconds, if it were waited for.
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});

describe('an address', () => {
  it.each([
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '0x7f.1',
    '2130706433',
    '0.0.0.0',
    '[::]',
    '169.254.169.254',
  ])('written as %s leads nowhere', async (host) => {
    expect(await ask(`https://${host}:${receiver.port}/`)).toEqual(forbidden);
    expect(receiver.connections).toBe(0);
  });

  it('of an allowed network is reached, also by http and by a name', async () => {
    names.answer = () => ['127.0.0.1'];
    for (const host of ['127.0.0.1', 'localhost', 'hooks.example'])
      expect(await ask(`http://${host}:${receiver.port}/in?a=1`, { allowed: OWN })).toMatchObject({ status: 204 });
    expect(receiver.received.map(({ path }) => path)).toEqual(Array(3).fill('/in?a=1'));
    // Not by way of another one.
    names.answer = () => ['127.0.0.1'];
    expect(await ask(`http://hooks.example:${receiver.port}/`, { allowed: ['10.0.0.0/8'] })).toEqual(forbidden);
  });
});

describe('a redirect', () => {
  it('is an answer, and is followed to nobody', async () => {
    const other = await WebhookReceiver.start();
    stops.push(() => other.stop());
    for (const location of [other.url, 'http://169.254.169.254/latest/meta-data/', '/elsewhere'])
      for (const status of [301, 302, 303, 307, 308]) {
        receiver.answer = (response) => response.writeHead(status, { location }).end();
        expect(await ask(receiver.url, { allowed: OWN })).toMatchObject({ kind: 'answered', status });
      }
    expect(other.connections).toBe(0);
    expect(receiver.received.map(({ path }) => path)).not.toContain('/elsewhere');
  });
});

describe('time', () => {
  it('that was over before the connection was made has nothing written, also when it would come later', async () => {
    const gate = Promise.withResolvers<string[]>();
    const stop = new AbortController();
    const asked = ask(
      `http://hooks.example:${receiver.port}/`,
      { allowed: OWN, resolve: () => gate.promise },
      stop.signal,
    );
    stop.abort();
    expect(await asked).toMatchObject({ kind: 'failed', written: false });
    gate.resolve(['127.0.0.1']);
    // Whoever connects now comes behind it.
    expect(await ask(receiver.url, { allowed: OWN })).toMatchObject({ status: 204 });
    expect(receiver.received).toHaveLength(1);
    expect(receiver.connections).toBe(1);
  });

  it('that is over while an answer is waited for leaves it open what became of the request', async () => {
    const silent = await RawServer.start(() => undefined);
    stops.push(() => silent.stop());
    const stop = new AbortController();
    const exchange = ask(silent.url, { allowed: OWN }, stop.signal);
    await eventually(() => silent.received.includes('POST'));
    stop.abort();
    expect(await exchange).toMatchObject({ kind: 'failed', written: true });
    await eventually(() => silent.sockets.size === 0, { what: 'the connection is closed' });
    expect(silent.connections).toBe(1);
  });

  it('that is over while TLS is being agreed on has nothing written', async () => {
    const silent = await RawServer.start(() => undefined);
    stops.push(() => silent.stop());
    const stop = new AbortController();
    const exchange = ask(`https://127.0.0.1:${silent.port}`, { allowed: OWN }, stop.signal);
    await eventually(() => silent.received.length > 0);
    stop.abort();
    expect(await exchange).toMatchObject({ kind: 'failed', written: false });
    expect(silent.connections).toBe(1);
    expect(silent.received).not.toContain('POST');
    await eventually(() => silent.sockets.size === 0, { what: 'the connection is closed' });
  });

  it('costs nothing where nobody listens', async () => {
    const closed = await WebhookReceiver.start();
    await closed.stop();
    const exchange = await ask(closed.url, { allowed: OWN });
    expect(exchange).toMatchObject({ kind: 'failed', written: false, error: { code: 'ECONNREFUSED' } });
  });
});

describe('TLS', () => {
  const before = getCACertificates('default');
  let authority: Awaited<ReturnType<typeof makeAuthority>>;
  const start = async (options?: { expired?: boolean; hosts?: string[] }, from = authority) => {
    const tls = await WebhookReceiver.start({ tls: await from.issue('hooks', options) });
    stops.push(() => tls.stop());
    return tls;
  };

  beforeAll(async () => {
    authority = await makeAuthority();
    setDefaultCACertificates([...before, authority.pem]);
  });
  afterAll(() => setDefaultCACertificates(before));

  it('is that of a known authority, for this name, and not over', async () => {
    names.answer = () => ['127.0.0.1'];
    const sound = await start({ hosts: ['hooks.example'] });
    expect(await ask(`https://hooks.example:${sound.port}/`, { allowed: OWN })).toMatchObject({ status: 204 });
    const stranger = await makeAuthority('Somebody else');
    const faults: [WebhookReceiver, RegExp][] = [
      [await start({ hosts: ['other.example'] }), /ALTNAME/],
      [await start({ hosts: ['hooks.example'], expired: true }), /EXPIRED/],
      [await start({ hosts: ['hooks.example'] }, stranger), /UNABLE_TO|SELF_SIGNED/],
    ];
    for (const [faulty, code] of faults) {
      const exchange = await ask(`https://hooks.example:${faulty.port}/`, { allowed: OWN });
      expect(exchange).toMatchObject({
        kind: 'failed',
        written: false,
        error: { code: expect.stringMatching(code) as string },
      });
      expect(faulty.received).toEqual([]);
    }
  });
});

describe('the environment', () => {
  it('puts no proxy between, and lets no bad certificate pass', async () => {
    const proxy = await WebhookReceiver.start();
    const bad = await WebhookReceiver.start({ tls: await (await makeAuthority('Nobody')).issue('bad') });
    stops.push(
      () => proxy.stop(),
      () => bad.stop(),
    );
    const script = `
      const { post } = require('./post.js');
      const { resolverOf } = require('./resolve.js');
      const route = { resolve: resolverOf(), allowed: ['127.0.0.1'], timeoutMs: 30_000 };
      const ask = (url) => post({ url: new URL(url), headers: {}, body: '{}' }, route, AbortSignal.timeout(30_000));
      Promise.all(process.argv.slice(1).map(ask)).then((all) => console.log(JSON.stringify(all.map(({ kind }) => kind))));`;
    const child = spawn(process.execPath, ['-e', script, receiver.url, bad.url], {
      cwd: join(__dirname, '../../../../dist/src/notifications/channels/webhook'),
      env: {
        ...{ HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, http_proxy: proxy.url, https_proxy: proxy.url },
        ...{ NODE_USE_ENV_PROXY: '1', NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await new Promise((resolve) => child.once('close', resolve));
    expect(JSON.parse(said)).toEqual(['answered', 'failed']);
    expect(proxy.connections).toBe(0);
    expect(bad.received).toEqual([]);
    expect(receiver.received).toHaveLength(1);
  });
});
