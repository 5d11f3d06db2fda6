import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { freePort } from '../../../scripts/servers/index.mjs';
import { createSchemaRegistry } from '../../../src/messaging/registry';
import type { AppError } from '../../../src/platform/errors';
import { eventually } from '../../support/eventually';
import { clientOf, failure, serve } from './client-fixture';
import { type Answering, registryOf } from './replay-server';

const GOOD = registryOf({ orders: [5] });
/** The answers in turn; the last for ever. */
function inTurn(...answers: Answering[]): Answering {
  let asked = 0;
  return (heard, response) => answers[Math.min(asked++, answers.length - 1)]?.(heard, response);
}

describe('a registry that fails for a moment is asked again', () => {
  it.each<[string, Answering]>([
    ['answers 500', () => ({ status: 500, body: { error_code: 50001, message: 'store' } })],
    ['answers 408', () => ({ status: 408, body: 'slow' })],
    ['answers 429', () => ({ status: 429, headers: { 'retry-after': '0' } })],
    ['answers 503 until a moment ago', () => ({ status: 503, headers: { 'retry-after': new Date(0).toUTCString() } })],
    ['hangs up', (_, response) => void response.destroy()],
    [
      'hangs up within the answer',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('[1', () => response.destroy());
        return undefined;
      },
    ],
    ['answers with a page', () => ({ headers: { 'content-type': 'text/html' }, body: '<html>ok</html>' })],
    ['answers with half of it', () => ({ body: '[1,2' })],
    ['answers in bytes that are no text', (_, response) => void response.end(Buffer.from([0x22, 0xff, 0x22]))],
    ['answers in another shape', () => ({ body: { versions: [1] } })],
    ['numbers its versions by names', () => ({ body: ['1'] })],
    ['redirects', () => ({ status: 307, headers: { location: '/elsewhere' } })],
    ['answers without end', (_, response) => endless(response)],
    ['answers 400 without an error of the API', () => ({ status: 400, body: 'Bad Request' })],
    ['says nothing', () => undefined],
  ])('when it %s', async (what, fault) => {
    const server = await serve(inTurn(fault, GOOD));
    const registry = clientOf([server.url], what === 'says nothing' ? { schemaRegistryDeadlineMs: 3000 } : {});
    expect(await registry.versions('orders')).toHaveLength(1);
    expect(registry.trouble).toBeUndefined();
  });
});

describe('a registry that does not mend', () => {
  it('is unavailable within twice the deadline, and health says why without naming a host', async () => {
    const server = await serve(() => undefined);
    const registry = clientOf([server.url], { schemaRegistryDeadlineMs: 300 });
    const started = performance.now();
    const error = await failure(registry.versions('orders'));
    // 600 ms, and a busy machine; the three rounds' pauses and another deadline are beyond it.
    expect(performance.now() - started).toBeLessThan(4000);
    expect(error.message).toBe('The schema registry does not answer in time.');
    expect(registry.trouble).toBe('the schema registry does not answer in time');
    expect(inspect(error.cause)).toContain(server.url);
  });

  it('is asked three times and no more', async () => {
    const server = await serve(() => ({ status: 503 }));
    await failure(clientOf([server.url]).versions('orders'));
    expect(server.heard).toHaveLength(3);
  });

  it('is not asked again before it wants to be', async () => {
    const at: number[] = [];
    const server = await serve(inTurn(() => ({ status: 429, headers: { 'retry-after': '1' } }), GOOD));
    const { answering } = server;
    server.answering = (heard, response) => {
      at.push(performance.now());
      return answering(heard, response);
    };
    await clientOf([server.url]).versions('orders');
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(990);
  });

  it('and wants a pause beyond the time of the call is left at once', async () => {
    const server = await serve(() => ({ status: 503, headers: { 'retry-after': '60' } }));
    await failure(clientOf([server.url], { schemaRegistryDeadlineMs: 3000 }).versions('orders'));
    expect(server.heard).toHaveLength(1);
  });

  it('answers no such thing only with a code of its API: a wrong path is an outage with a hint', async () => {
    for (const body of [
      '',
      '<html>not here</html>',
      { error_code: 404, message: 'HTTP 404 Not Found' },
      { error: 'x' },
    ]) {
      const server = await serve(() => ({ status: 404, body }));
      const error = await failure(clientOf([server.url]).versions('orders'));
      expect(error.hint).toContain('SCHEMA_REGISTRY_URLS');
    }
  });

  it('can be nobody at all', async () => {
    const port = await freePort();
    const error = await failure(clientOf([`http://127.0.0.1:${port}`]).versions('orders'));
    expect(error.message).toBe("The schema registry can't be reached (ECONNREFUSED).");
  });

  it('is left at once when the client is closed', async () => {
    const server = await serve(() => undefined);
    const registry = clientOf([server.url], { schemaRegistryDeadlineMs: 30_000 });
    const asked = failure(registry.versions('orders'));
    await eventually(() => server.heard.length === 1);
    await registry.close();
    expect((await asked).message).toBe('The schema registry is closed.');
    expect((await failure(registry.versions('orders'))).message).toBe('The schema registry is closed.');
  });
});

describe('several registries', () => {
  it('are asked in turn; the one that answered last is asked first', async () => {
    const port = await freePort();
    const server = await serve(GOOD);
    const ill = await serve(() => ({ status: 500 }));
    const registry = clientOf([`http://127.0.0.1:${port}`, ill.url, server.url]);
    expect(await registry.versions('orders')).toHaveLength(1);
    expect(ill.heard).toHaveLength(1);
    await registry.versions('orders');
    await registry.versions('other');
    expect(ill.heard).toHaveLength(1);
  });

  it('are not all given up when calls fail side by side', async () => {
    const ill = await serve(() => ({ status: 500 }));
    const server = await serve(GOOD);
    const registry = clientOf([ill.url, server.url]);
    await Promise.all(Array.from({ length: 10 }, () => registry.versions('orders')));
    const asked = ill.heard.length;
    expect(asked).toBeLessThanOrEqual(10);
    await registry.versions('orders');
    expect(ill.heard).toHaveLength(asked);
  });

  it('that come too late for one call are asked first by the next, also when calls fail side by side', async () => {
    const silent = await serve(() => undefined);
    const mute = await serve(() => undefined);
    const server = await serve(GOOD);
    const registry = clientOf([silent.url, mute.url, server.url], { schemaRegistryDeadlineMs: 2000 });
    await Promise.all([1, 2, 3].map(() => failure(registry.versions('orders'))));
    expect(await registry.versions('orders')).toHaveLength(1);
  });
});

it('a registry that got only the rest of a call’s time is asked first by the next call', async () => {
  const silent = await serve(() => undefined);
  const ill = await serve(() => delay(2000, { status: 500 }));
  // Within the deadline, and beyond what the other two leave of a call's time.
  const slow = await serve(async (heard, response) => delay(1500, await GOOD(heard, response)));
  const registry = clientOf([silent.url, ill.url, slow.url], { schemaRegistryDeadlineMs: 3000 });
  await failure(registry.versions('orders'));
  expect(await registry.versions('orders')).toHaveLength(1);
});

describe('an answer', () => {
  it('that names another level than was set is none', async () => {
    const server = await serve(() => ({ body: { compatibility: 'BACKWARD' } }));
    const error = await failure(clientOf([server.url]).setCompatibility('orders', 'FULL_TRANSITIVE'));
    expect(error.message).toContain('another level');
  });

  it('is not read beyond the size of the largest schema', async () => {
    let written = 0;
    const server = await serve((_, response) => endless(response, (size) => (written = size)));
    const error = await failure(clientOf([server.url]).versions('orders'));
    expect(error.message).toContain('larger than');
    // What the sockets in between had taken already.
    expect(written).toBeLessThan(3 * 20_000_000);
  });

  it('with a version that is too large is refused, and does not stand for an outage', async () => {
    const huge = JSON.stringify('x'.repeat(1_100_000));
    const server = await serve(({ line }) => {
      if (line.endsWith('/versions?deleted=true')) return { body: [1, 2, 3, 4] };
      const version = Number(/versions\/(\d)/.exec(line)?.[1]);
      const schema = { 1: '"string"', 2: huge, 3: 'x'.repeat(3_000_000), 4: '['.repeat(65) }[version];
      return { body: { subject: 'orders', version, id: version, schema } };
    });
    const registry = clientOf([server.url]);
    const refused: string[] = [];
    const schemas = await registry.versions('orders', (error) => refused.push(error.message));
    expect(schemas.map(({ id }) => id)).toEqual([1]);
    expect(refused.sort()).toEqual([
      expect.stringMatching(/Version 2 .*1100002 bytes/),
      expect.stringMatching(/Version 3 .*too large/),
      expect.stringMatching(/Version 4 .*nested deeper/),
    ]);
    await expect(registry.versions('orders')).rejects.toMatchObject({ code: 'schema-refused', retriable: false });
    expect(registry.trouble).toBeUndefined();
  });

  it('is read once: a version does not change', async () => {
    const server = await serve(registryOf({ orders: [5, 6, 7] }));
    const registry = clientOf([server.url]);
    await registry.versions('orders');
    await registry.version('orders', 1);
    server.heard.length = 0;
    await registry.versions('orders');
    await registry.version('orders', 2);
    expect(server.heard.map(({ line }) => line)).toEqual([
      'GET /subjects/orders/versions?deleted=true',
      'GET /subjects/orders/versions/3?deleted=true',
    ]);
  });

  it('is read again when the subject was made anew', async () => {
    const server = await serve(registryOf({ orders: [5, 6] }));
    const registry = clientOf([server.url]);
    await registry.versions('orders');
    server.answering = registryOf({ orders: [7, 8, 9] });
    expect((await registry.versions('orders')).map(({ id }) => id)).toEqual([7, 8, 9]);
  });

  it('with thousands of versions is read from its newest', async () => {
    const server = await serve(registryOf({ orders: Array.from({ length: 1003 }, (_, index) => index) }));
    const registry = clientOf([server.url]);
    const refused: string[] = [];
    const schemas = await registry.versions('orders', (error) => refused.push(error.message));
    expect(schemas.map(({ id }) => id)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 3));
    expect(refused).toEqual([expect.stringContaining('1003 versions')]);
    await expect(registry.versions('orders')).rejects.toThrow(/1003 versions/);
  });
});

it('without a URL there is no client', () => {
  let code: unknown;
  try {
    createSchemaRegistry({ schemaRegistryUrls: [] });
  } catch (error) {
    code = (error as AppError).code;
  }
  expect(code).toBe('registry-unconfigured');
});

/** Writes until nobody reads any more. */
function endless(response: ServerResponse, report: (bytes: number) => void = () => undefined): undefined {
  const chunk = Buffer.alloc(64 * 1024, '1');
  let written = 0;
  const write = (): void => {
    while (!response.destroyed && response.write(chunk)) report((written += chunk.length));
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.on('drain', write);
  write();
  return undefined;
}
