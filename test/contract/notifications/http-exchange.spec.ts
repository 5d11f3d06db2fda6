import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Agent } from 'undici';
import { makeAuthority } from '../../../scripts/servers/certs.mjs';
import { exchange } from '../../../src/notifications/channels/http-exchange';
import { eventually } from '../../support/eventually';

const listen = (server: Server) =>
  new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );

describe('an exchange over HTTP', () => {
  let agent: Agent;
  let [requests, bytes] = [0, 0];
  let ca: string;
  let https: ReturnType<typeof createHttps>;
  let gate: Server;
  let url: URL;
  const held: Socket[] = [];
  let isOpen = true;
  const pass = (socket: Socket) => {
    const behind = connect((https.address() as AddressInfo).port, '127.0.0.1');
    socket.pipe(behind).pipe(socket);
    behind.on('error', () => socket.destroy());
    socket.on('error', () => behind.destroy());
  };

  beforeAll(async () => {
    const authority = await makeAuthority();
    ca = authority.pem;
    https = createHttps(await authority.issue('server'), (request, response) => {
      requests++;
      request.on('data', (chunk: Buffer) => (bytes += chunk.length));
      request.on('end', () => response.end('hello'));
    });
    await listen(https);
    gate = createServer((socket) => {
      if (isOpen) return pass(socket);
      socket.on('error', () => undefined);
      held.push(socket);
    });
    url = new URL(`https://127.0.0.1:${await listen(gate)}/`);
    agent = new Agent({ pipelining: 0, allowH2: false, connect: { ca, timeout: 10_000 } });
  });
  beforeEach(() => ([requests, bytes, isOpen] = [0, 0, true]));
  afterAll(async () => {
    await agent.destroy();
    for (const socket of held) socket.destroy();
    https.closeAllConnections();
    await new Promise((resolve) => https.close(resolve));
    await new Promise((resolve) => gate.close(resolve));
  });
  const post = (signal: AbortSignal) => exchange(agent, { method: 'POST', url, headers: {}, body: 'abc' }, signal);

  it('has an answer', async () => {
    expect(await post(AbortSignal.timeout(30_000))).toMatchObject({ kind: 'answered', status: 200, body: 'hello' });
    expect([requests, bytes]).toEqual([1, 3]);
  });

  it('that was given up while it connected is never written, also when the connection comes up after', async () => {
    isOpen = false;
    const own = new Agent({ connect: { ca, timeout: 10_000 } });
    const lease = new AbortController();
    const late = exchange(own, { method: 'POST', url, headers: {}, body: 'abc' }, lease.signal);
    await eventually(() => held.length > 0);
    lease.abort();
    expect(await late).toMatchObject({ kind: 'failed', written: false });
    held.splice(0).forEach(pass);
    // Resolves once what was queued is over: it has had its connection by then, and was not written.
    await own.close();
    expect(requests).toBe(0);
  });

  it('is not written over a connection whose certificate proves nothing', async () => {
    const strict = new Agent({ connect: { timeout: 10_000 } });
    const refused = await exchange(
      strict,
      { method: 'POST', url, headers: {}, body: 'abc' },
      AbortSignal.timeout(30_000),
    );
    expect(refused).toMatchObject({ kind: 'failed', written: false });
    expect(requests).toBe(0);
    await strict.destroy();
  });

  it('that was given up after it was written may have been read', async () => {
    const lease = new AbortController();
    https.removeAllListeners('request');
    https.on('request', (request) => {
      requests++;
      request.resume();
    });
    const outcome = post(lease.signal);
    await eventually(() => requests === 1);
    lease.abort();
    expect(await outcome).toMatchObject({ kind: 'failed', written: true });
  });

  it('whose request can not be made was not written', async () => {
    const broken = { method: 'POST', url, headers: { 'x-a': 'b\r\nc: d' } } as const;
    expect(await exchange(agent, broken, AbortSignal.timeout(30_000))).toMatchObject({
      kind: 'failed',
      written: false,
    });
  });
});
