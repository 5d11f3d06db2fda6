import { connect, createServer } from 'node:net';
import { Client } from 'pg';
import { startPostgres } from '../../scripts/servers/index.mjs';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { startGuardedKafka } from '../support/guarded-kafka';
import { uniqueName } from '../support/kafka';
import { ParleyProcess, Program } from '../support/parley-process';

const order = (partner: string) => ({
  partner,
  currency: 'EUR',
  lines: [{ lineNumber: 1, item: 'X1', quantity: '2', unit: 'C62', unitPrice: '9.50' }],
});

async function place(parley: ParleyProcess, partner: string): Promise<Response> {
  return parley.request('/v1/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': uniqueName('key') },
    body: JSON.stringify(order(partner)),
  });
}

/** Sends an order but for the last of its bytes. */
async function beginOrder(parley: ParleyProcess, partner: string) {
  const body = JSON.stringify(order(partner));
  const socket = connect(Number(new URL(parley.apiUrl).port), '127.0.0.1');
  let answer = '';
  socket.on('error', () => undefined).on('data', (data: Buffer) => (answer += data.toString()));
  const head = [
    'POST /v1/orders HTTP/1.1',
    'host: parley',
    `authorization: ${(await parley.key()).headers.authorization}`,
    'content-type: application/json',
    `idempotency-key: ${uniqueName('key')}`,
    `content-length: ${body.length}`,
  ];
  await new Promise<void>((resolve) =>
    socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`, () => resolve()),
  );
  return { finish: () => socket.write(body.slice(-1)), answer: () => answer };
}

/** On a busy machine a process takes most of it to start. */
const says = (parley: ParleyProcess, words: string) =>
  eventually(() => parley.output.includes(words), { timeout: 90_000, what: `it says: ${words}` });
jest.setTimeout(240_000);

describe('a process', () => {
  it('lists every fault of its environment at once and ends with 1', async () => {
    const program = Program.run('main.js', [], { HTTP_PORT: 'http', ROLES: 'chef' });
    expect(await program.finished()).toBe(1);
    for (const key of ['HTTP_PORT', 'ROLES', 'DATABASE_URL', 'KAFKA_BROKERS']) expect(program.output).toContain(key);
  });

  it('says which port is taken and what to do', async () => {
    const parley = await ParleyProcess.prepare(await freshDatabase());
    const squatter = createServer().listen(Number(new URL(parley.apiUrl).port), '127.0.0.1');
    try {
      parley.launch();
      await eventually(() => !parley.alive, { timeout: 90_000, what: 'it ends' });
      expect(parley.output).toMatch(/Port \d+ is taken\. Set HTTP_PORT to a free port/);
    } finally {
      squatter.close();
      await parley.end('SIGKILL');
    }
  });

  it('is ready, takes an order, and on SIGTERM becomes unready and ends with 0', async () => {
    const partner = uniqueName('acme');
    const parley = await ParleyProcess.prepare(await freshDatabase(), {
      // Long enough to be seen by a busy machine.
      SHUTDOWN_DRAIN_MS: '5000',
    });
    try {
      await parley.addPartner(partner, '--format', 'json');
      await parley.start();
      expect(await parley.probe('startupz')).toBe(200);
      expect((await place(parley, partner)).status).toBe(201);
      await eventually(
        async () =>
          /parley_outbox_published_total\{[^}]*result="acknowledged"\} 1/.test(
            await (await fetch(`${parley.managementUrl}/metrics`)).text(),
          ),
        {
          what: 'the metrics count the record',
        },
      );
      const ended = parley.end('SIGTERM');
      await eventually(async () => (await parley.probe('readyz')) === 503, {
        interval: 5,
        what: 'unready while it drains',
      });
      expect(await parley.probe('livez')).toBe(200);
      expect(await ended).toBe(0);
    } finally {
      await parley.end('SIGKILL');
    }
  });

  it('answers what was begun before SIGTERM, and ends though a client never ends its request', async () => {
    const partner = uniqueName('acme');
    const parley = await ParleyProcess.prepare(await freshDatabase(), {
      // A third of it is the time that the client has to end.
      SHUTDOWN_TIMEOUT_MS: '30000',
    });
    try {
      await parley.addPartner(partner, '--format', 'json');
      await parley.start();
      const [polite, rude] = [await beginOrder(parley, partner), await beginOrder(parley, partner)];
      const ended = parley.end('SIGTERM');
      await says(parley, 'stopping');
      polite.finish();
      await eventually(() => polite.answer().startsWith('HTTP/1.1 201'), { what: 'the answer' });
      expect(await ended).toBe(0);
      expect(rude.answer()).toBe('');
    } finally {
      await parley.end('SIGKILL');
    }
  });

  it('ends with 1 and one line at an error that nobody handles, without the parameters of a statement', async () => {
    const script = `
      const { createLogger } = require('./dist/src/platform/telemetry');
      const { leaveOnFault } = require('./dist/src/platform/lifecycle');
      leaveOnFault(createLogger('info', 'test'));
      Promise.reject(Object.assign(new Error('it failed'), { parameters: ['a document'] }));
      setTimeout(() => undefined, 60000);`;
    const program = Program.evaluate(script);
    expect(await program.finished()).toBe(1);
    const { code, reason, origin } = JSON.parse(program.output) as Record<string, unknown>;
    expect({ code, reason, origin }).toEqual({
      code: 'unhandled-error',
      reason: 'it failed',
      origin: 'unhandledRejection',
    });
    expect(program.output).not.toContain('a document');
  });

  it('keeps probes and metrics off the port of the API, and the API off theirs', async () => {
    const parley = await ParleyProcess.prepare(await freshDatabase());
    try {
      await parley.start();
      const verbose = (await (await fetch(`${parley.managementUrl}/readyz?verbose`)).json()) as {
        checks: Record<string, { status: string }>;
      };
      expect(Object.keys(verbose.checks)).toEqual([
        'lifecycle',
        'database',
        'topics',
        'registry',
        'relay',
        'consumer',
        'deadlines',
        'notifier',
      ]);
      for (const path of [
        'livez',
        'readyz?verbose',
        'startupz',
        'metrics',
        'metrics/',
        '%6detrics',
        'METRICS',
        'metrics?x',
      ])
        expect((await fetch(`${parley.apiUrl}/${path}`)).status).toBe(404);
      expect((await fetch(`${parley.managementUrl}/v1/orders`)).status).toBe(404);
    } finally {
      await parley.end('SIGKILL');
    }
  });

  it('never shows a password, in no log line and in no error', async () => {
    const parley = await ParleyProcess.prepare('postgres://parley:hunter2-secret@127.0.0.1:1/parley', {
      KAFKA_BROKERS: '127.0.0.1:1',
      KAFKA_SASL_PASSWORD: 'swordfish-secret',
      LOG_LEVEL: 'trace',
    });
    try {
      parley.launch();
      await says(parley, 'database not reachable');
      expect(parley.output).not.toMatch(/hunter2|swordfish/);
      expect(await parley.end('SIGTERM')).toBe(0);
    } finally {
      await parley.end('SIGKILL');
    }
  });
});

describe('a process that starts before its servers', () => {
  it('lives, says what it waits for, and is ready when database and schema come', async () => {
    const postgres = await startPostgres();
    await postgres.createDatabase('parley');
    await postgres.kill();
    const parley = await ParleyProcess.prepare(postgres.url('parley'));
    try {
      parley.launch();
      await says(parley, 'database not reachable: check DATABASE_URL');
      expect([await parley.probe('livez'), await parley.probe('readyz'), await parley.probe('startupz')]).toEqual([
        200, 503, 503,
      ]);
      // One place says it: the loops that wait with it are quiet.
      const said = parley.output.match(/"level":"(?:warn|error)".*"msg":"[^"]*"/g) ?? [];
      expect(said.filter((line) => !line.includes('database not reachable'))).toEqual([]);
      await postgres.restart();
      await says(parley, 'run \\"parley migrate\\"');
      await parley.cli('migrate');
      await parley.ready();
    } finally {
      await parley.end('SIGKILL');
      await postgres.stop();
    }
  });

  it('waits while another process holds the partitions of the outbox', async () => {
    const url = await freshDatabase();
    const other = new Client({ connectionString: url });
    await other.connect();
    const parley = await ParleyProcess.prepare(url, { DATABASE_STATEMENT_TIMEOUT_MS: '500' });
    try {
      await other.query('SELECT pg_advisory_lock(7275392)');
      parley.launch();
      await says(parley, 'outbox partitions and channels are not ready');
      await other.query('SELECT pg_advisory_unlock_all()');
      await parley.ready();
    } finally {
      await other.end();
      await parley.end('SIGKILL');
    }
  });

  it('takes orders while the broker is missing and publishes them when it comes', async () => {
    const partner = uniqueName('acme');
    const kafka = await startGuardedKafka();
    const parley = await ParleyProcess.prepare(await freshDatabase(), {}, kafka);
    try {
      await parley.addPartner(partner, '--format', 'json');
      await kafka.kill();
      await parley.start();
      const answer = await place(parley, partner);
      expect(answer.status).toBe(201);
      await says(parley, 'broker not reachable: check KAFKA_BROKERS');
      await kafka.restart();
      const { orderNumber } = (await answer.json()) as { orderNumber: string };
      await eventually(
        async () => {
          const timeline = (await (await parley.request(`/v1/orders/${orderNumber}/timeline`)).json()) as {
            steps: { step: string; offset: string | null }[];
          };
          return timeline.steps.find((step) => step.step === 'published' && step.offset !== null);
        },
        { interval: 200, what: 'the order is published' },
      );
    } finally {
      await parley.end('SIGKILL');
      await kafka.stop();
    }
  });
});
