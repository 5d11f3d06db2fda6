import { connect, type Socket } from 'node:net';
import { Controller, Get, Module, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import helmet from 'helmet';
import { pino } from 'pino';
import { createHttpApp } from '../../../src/platform/http';

@Controller('v1/things')
class Things {
  @Get()
  list(): string[] {
    return ['a'];
  }
  @Post('broken')
  broken(): never {
    throw new Error('SELECT secret FROM inside');
  }
  @Get(':id')
  one(): object {
    return {};
  }
}

@Module({ controllers: [Things] })
class Root {}

/** What comes back on a bare connection until it ends. */
async function spoken(port: number, write: (socket: Socket) => void): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('connect', () => write(socket));
  await new Promise((resolve) => socket.on('close', resolve).on('error', resolve));
  return text;
}

describe('the HTTP application', () => {
  let app: NestFastifyApplication;
  let port: number;
  const lines: string[] = [];
  beforeAll(async () => {
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    app = await createHttpApp(Root, { httpBodyLimit: 2048 }, log);
    await app.listen(0, '127.0.0.1');
    port = (app.getHttpServer().address() as { port: number }).port;
  });
  afterAll(() => app?.close());

  const get = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);
  const problemOf = async (answer: Response) => {
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    return (await answer.json()) as Record<string, unknown>;
  };

  it("sends helmet's headers with every answer, and a policy that allows a browser nothing", async () => {
    const expected: Record<string, string> = {};
    helmet()(
      {} as never,
      {
        setHeader: (name: string, value: string) => (expected[name.toLowerCase()] = value),
        removeHeader: () => undefined,
      } as never,
      () => undefined,
    );
    expect(Object.keys(expected).length).toBeGreaterThan(10);
    for (const path of ['/v1/things', '/nothing', '/v1/things/%zz', '/docs/openapi.json']) {
      const answer = await get(path);
      for (const name of Object.keys(expected))
        expect([path, name, answer.headers.has(name)]).toEqual([path, name, true]);
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      for (const name of ['x-powered-by', 'server']) expect(answer.headers.get(name)).toBeNull();
    }
    expect((await get('/v1/things')).headers.get('content-security-policy')).toBe(
      "default-src 'none';frame-ancestors 'none'",
    );
  });

  it('lets its own pages work, and nothing in them that is not in a file of ours', async () => {
    for (const path of ['/docs', '/docs/problems', '/docs/problems/not-found']) {
      const answer = await get(path);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/default-src 'self'/);
      expect(policy).toMatch(/frame-ancestors 'none'/);
      expect(policy).not.toMatch(/script-src|unsafe-eval|https?:/);
      const page = await answer.text();
      expect(page).not.toMatch(/<script(?![^>]*\ssrc="\/docs\/)|\son\w+=|javascript:/i);
      for (const [, file] of page.matchAll(/(?:src|href)="(\/docs\/[^"#]+)"/g))
        expect([file, (await get(file ?? '')).status]).toEqual([file, 200]);
    }
    const bundle = await (await get('/docs/swagger-ui-bundle.js')).text();
    expect(bundle.length).toBeGreaterThan(100_000);
  });

  it('says of an unknown error its trace, and nothing of the inside', async () => {
    const answer = await get('/v1/things/broken', { method: 'POST' });
    const problem = await problemOf(answer);
    expect([answer.status, problem['code']]).toEqual([500, 'internal']);
    expect(problem['traceId']).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.stringify(problem)).not.toMatch(/SELECT|inside|\.ts|node_modules|:\d+:\d+/);
    expect(lines.join()).toContain('SELECT secret FROM inside');
  });

  it('answers 405 with the methods that a path has, and 404 where it has none', async () => {
    for (const [method, path, allow] of [
      ['DELETE', '/v1/things', 'GET, HEAD'],
      ['PUT', '/v1/things/', 'GET, HEAD'],
      ['PATCH', '/v1/things/7', 'GET, HEAD'],
      ['GET', '/v1/things/broken', null],
      ['OPTIONS', '/docs', 'GET, HEAD'],
    ] as const) {
      const answer = await get(path, { method });
      if (allow === null) expect(answer.status).toBe(200);
      else expect([method, path, answer.status, answer.headers.get('allow')]).toEqual([method, path, 405, allow]);
    }
    expect((await problemOf(await get('/v1/things', { method: 'DELETE' })))['code']).toBe('method-not-allowed');
    for (const path of ['/v1/nothing', '/v1/things/7/8', '/']) {
      const answer = await get(path, { method: 'DELETE' });
      expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 404, null]);
    }
  });

  it('answers strangers who look for paths without a line in the log', async () => {
    const before = lines.length;
    for (const path of ['/wp-admin', '/.env', '/v1/../etc/passwd']) expect((await get(path)).status).toBe(404);
    expect(lines.length).toBe(before);
  });

  it('refuses a body that is too large before it has come whole', async () => {
    const answer = await spoken(port, (socket) =>
      socket.write(
        'POST /v1/things/broken HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 3000000\r\n\r\n{',
      ),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"code":"body-too-large"');
  });

  it('does not parse a body that is sent to nowhere', async () => {
    const answer = await get('/nowhere', {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect((await problemOf(answer))['code']).toBe('not-found');
  });

  it.each([
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`,
      431,
      'headers-too-large',
    ],
    [
      'a request line that is too long',
      `GET /${'y'.repeat(17_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
      431,
      'headers-too-large',
    ],
    ['what is no HTTP', 'hello\r\n\r\n', 400, 'request-malformed'],
    [
      'two lengths (request smuggling)',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
      'request-malformed',
    ],
    [
      'a length beside chunks (request smuggling)',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      400,
      'request-malformed',
    ],
  ])('answers %s as a problem, and ends the connection', async (_, sent, status, code) => {
    const answer = await spoken(port, (socket) => socket.write(sent));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toContain('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ status, code, type: `/docs/problems/${code}` });
  });

  it('hangs up on who says nothing, and on who sends its headers sign by sign', async () => {
    const began = performance.now();
    const drip = (socket: Socket) => {
      socket.write('GET /v1/things HTTP/1.1\r\nhost: x\r\n');
      const timer = setInterval(() => socket.write('x: y\r\n'), 200);
      socket.on('close', () => clearInterval(timer));
    };
    const [silent, slow] = await Promise.all([spoken(port, () => undefined), spoken(port, drip)]);
    expect(performance.now() - began).toBeLessThan(50_000);
    expect(slow).toMatch(/^HTTP\/1\.1 408 /);
    expect(slow).toContain('"code":"request-timeout"');
    expect(silent).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });
});
