import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { HttpExchange } from '../../../../src/notifications/channels/http-exchange';
import { outcomeOfAnswer, outcomeOfFailure } from '../../../../src/notifications/channels/webhook/outcome';
import { post } from '../../../../src/notifications/channels/webhook/post';
import { resolverOf } from '../../../../src/notifications/channels/webhook/resolve';
import { eventually } from '../../../support/eventually';
import { RawServer } from '../../../support/webhook-receiver';

/** Of an attempt that ends by itself, however busy the machine is: were it to end by time, its test would too. */
const PATIENCE_MS = 30_000;

let server: RawServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** Asks a server that answers so; the attempt's time is over when what it returns resolves. Whatever it does, one connection was made, and is closed behind it. */
async function ask(speak: (socket: Socket) => unknown): Promise<{ exchange: HttpExchange; raw: RawServer }> {
  const time = new AbortController();
  const raw = (server = await RawServer.start((socket) => {
    const spoken = speak(socket);
    if (spoken instanceof Promise) void spoken.then(() => time.abort());
  }));
  const exchange = await post(
    { url: new URL(raw.url), headers: {}, body: '{"secret":"x"}' },
    { resolve: resolverOf(), allowed: ['127.0.0.1'], timeoutMs: PATIENCE_MS },
    AbortSignal.any([time.signal, AbortSignal.timeout(PATIENCE_MS)]),
  );
  await eventually(() => raw.sockets.size === 0, { what: 'the connection is closed' });
  expect(raw.connections).toBe(1);
  return { exchange, raw };
}

/** Writes the same until the connection is closed; resolves with how many bytes it could. */
function flood(socket: Socket, chunk: string): Promise<number> {
  return new Promise((resolve) => {
    const more = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', more).once('close', () => resolve(socket.bytesWritten));
    more();
  });
}

/** Writes the same every few milliseconds until the connection is closed; resolves when many have gone out. */
function drip(socket: Socket, piece: string): Promise<void> {
  return new Promise((resolve) => {
    let pieces = 0;
    const timer = setInterval(() => {
      socket.write(piece);
      if (++pieces === 50) resolve();
    }, 10);
    socket.once('close', () => clearInterval(timer));
  });
}

const OK = 'HTTP/1.1 200 OK\r\n';

describe('a receiver that means harm', () => {
  it('floods us with headers: some kilobytes are read, and it gave no answer', async () => {
    let flooded: Promise<number> | undefined;
    const { exchange } = await ask((socket) => {
      socket.write(OK);
      flooded = flood(socket, `x-more: ${'a'.repeat(1000)}\r\n`);
    });
    expect(exchange).toMatchObject({ kind: 'failed', written: true, error: { code: 'UND_ERR_HEADERS_OVERFLOW' } });
    // What the sockets' buffers took on their way counts, too.
    expect(await flooded).toBeLessThan(32 * 1024 * 1024);
  });

  it('floods us with a body: its status counts, of the rest some kilobytes are read', async () => {
    let flooded: Promise<number> | undefined;
    const { exchange } = await ask((socket) => {
      socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
      flooded = flood(socket, `ffff\r\n${'a'.repeat(0xffff)}\r\n`);
    });
    expect(exchange).toMatchObject({ kind: 'answered', status: 200, complete: false });
    expect(exchange.kind === 'answered' && exchange.body.length).toBe(4096);
    expect(await flooded).toBeLessThan(32 * 1024 * 1024);
  });

  it('drips its headers: the attempt ends in its time, open what became of it', async () => {
    const { exchange } = await ask((socket) => {
      socket.write(OK);
      return drip(socket, 'x: y\r\n');
    });
    expect(exchange).toMatchObject({ kind: 'failed', written: true });
  });

  it('drips its body: the attempt ends in its time, and its status counts', async () => {
    const { exchange } = await ask((socket) => {
      socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
      return drip(socket, '1\r\na\r\n');
    });
    expect(exchange).toMatchObject({ kind: 'answered', status: 200, complete: false });
    // Nor did it end for having been read as far as answers are.
    expect(exchange.kind === 'answered' && exchange.body.length).toBeLessThan(4096);
  });

  it('says for ever that it is about to answer: the attempt ends in its time', async () => {
    const { exchange } = await ask((socket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n'));
    expect(exchange).toMatchObject({ kind: 'failed', written: true });
  });

  it('sends a bomb: nothing is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(3 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(4096);
    const { exchange } = await ask((socket) => {
      socket.write(`${OK}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    expect(exchange).toMatchObject({ kind: 'answered', status: 200, complete: true });
    expect(exchange.kind === 'answered' && Buffer.byteLength(exchange.body)).toBeLessThan(3 * bomb.length);
  });

  it('puts a second answer behind the first: the first counts, and no other request meets the second', async () => {
    const { exchange } = await ask((socket) =>
      socket.write(`${OK}content-length: 0\r\n\r\nHTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(exchange).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('says twice how long its answer is, in different ways: it gave no answer', async () => {
    for (const lengths of [
      'content-length: 5\r\ntransfer-encoding: chunked',
      'content-length: 5\r\ncontent-length: 6',
    ]) {
      const { exchange } = await ask((socket) => socket.write(`${OK}${lengths}\r\n\r\n0\r\n\r\n`));
      expect(exchange).toMatchObject({ kind: 'failed', written: true });
      await server?.stop();
    }
  });

  it.each([
    ['hangs up', (socket: Socket) => socket.destroy()],
    ['resets the connection', (socket: Socket) => socket.resetAndDestroy()],
    ['ends without a word', (socket: Socket) => socket.end()],
    ['breaks off in the middle', (socket: Socket) => socket.end('HTTP/1.1 20')],
    ['speaks something else', (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n')],
    ['has no such status', (socket: Socket) => socket.end('HTTP/1.1 99999 Never\r\n\r\n')],
    [
      'has another protocol',
      (socket: Socket) => socket.end('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
  ])('%s: nobody knows what became of the request, and it is not written again', async (_, speak) => {
    const { exchange, raw } = await ask(speak);
    expect(exchange).toMatchObject({ kind: 'failed', written: true });
    expect(raw.received.match(/POST /g)).toHaveLength(1);
    if (exchange.kind !== 'failed') return;
    const outcome = outcomeOfFailure({ ...exchange, late: false, leaseEnds: false });
    expect(outcome).toMatchObject({ kind: 'unknown', code: 'webhook-broke' });
  });

  it('repeats to us what we sent it: nothing of it is kept', async () => {
    const { exchange } = await ask((socket) =>
      socket.end('HTTP/1.1 400 {"secret":"x"}\r\nx-secret: x\r\ncontent-length: 14\r\n\r\n{"secret":"x"}'),
    );
    if (exchange.kind !== 'answered') throw new Error('it answered');
    expect(JSON.stringify(outcomeOfAnswer(exchange, new Date()))).not.toContain('secret');
  });
});
