import { Client } from 'pg';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type PostgresServer, type SingleKafka } from '../../../scripts/servers/index.mjs';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import {
  healing,
  hold,
  kill,
  loseAnswers,
  ownKafka,
  ownPostgres,
  ownWire,
  pause,
  pauseProcess,
  refuse,
  silence,
  slowDown,
} from '../../support/faults';
import { createTopic, produce, readAll } from '../../support/kafka';
import type { TcpProxy } from '../../support/tcp-proxy';

/** `patience` ms is what a test waits for that expects no answer. */
async function ask(url: string, patience = 30_000): Promise<'answered'> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: patience, query_timeout: patience });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return 'answered';
  } finally {
    await client.end().catch(() => undefined);
  }
}

describe('a fault', () => {
  const order: string[] = [];
  it('that a test leaves behind …', () => {
    const first = healing(async () => order.push('first'));
    healing(async () => order.push('second'));
    healing(async () => order.push('third'));
    void first;
  });
  it('… is healed when it has ended, newest first', () => expect(order).toEqual(['third', 'second', 'first']));

  it('is healed once, however often it is asked for', async () => {
    let times = 0;
    const heal = healing(async () => times++);
    await Promise.all([heal(), heal()]);
    await heal();
    expect(times).toBe(1);
  });
});

describe('a PostgreSQL of the spec’s own', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await ownPostgres();
  });

  it('answers nobody while it is paused, not on open connections either, and goes on with what was asked', async () => {
    const client = new Client({ connectionString: server.url('postgres') });
    await client.connect();
    const heal = await pause(server);
    const answer = client.query<{ one: number }>('SELECT 1 AS one');
    await expect(ask(server.url('postgres'), 400)).rejects.toThrow(/timeout/);
    await heal();
    expect((await answer).rows).toEqual([{ one: 1 }]);
    await client.end();
  });

  it('refuses while it is killed …', async () => {
    await kill(server);
    await expect(ask(server.url('postgres'))).rejects.toThrow(/ECONNREFUSED/);
  });
  it('… and is back for the next test', async () => {
    expect(await ask(server.url('postgres'))).toBe('answered');
    await pause(server);
  });
  it('also when it was only paused', async () => expect(await ask(server.url('postgres'))).toBe('answered'));
});

describe('a broker of the spec’s own', () => {
  let kafka: SingleKafka;
  beforeAll(async () => {
    kafka = await ownKafka();
  });

  it('writes what was sent while it was paused, or killed and started again', async () => {
    const topic = await createTopic('outage', { brokers: kafka.brokers });
    const resume = await pause(kafka);
    const sent = produce(topic, [{ value: 'paused' }], kafka.brokers);
    await resume();
    await sent;
    const restart = await kill(kafka);
    await expect(produce(topic, [{ value: 'never' }], kafka.brokers)).rejects.toThrow();
    await restart();
    await produce(topic, [{ value: 'after' }], kafka.brokers);
    expect((await readAll(topic, kafka.brokers)).map(({ value }) => String(value))).toEqual(['paused', 'after']);
  });
});

describe('a wire', () => {
  let wire: TcpProxy;
  let url: string;
  beforeAll(async () => {
    const target = new URL(await freshDatabase());
    wire = await ownWire({ port: Number(target.port) });
    target.port = String(wire.port);
    url = target.href;
  });

  it.each([
    ['refuses', () => refuse(wire), undefined, /ECONNRESET|terminated/],
    ['is silent', () => silence(wire), 400, /timeout/],
    ['loses answers', () => loseAnswers(wire), 400, /timeout/],
    ['is slower than anybody waits', () => slowDown(wire, 600), 400, /timeout/],
  ])('that %s heals', async (_, fault, patience, why) => {
    const heal = fault();
    await expect(ask(url, patience)).rejects.toThrow(why);
    await heal();
    expect(await ask(url)).toBe('answered');
  });
});

describe('a process that is paused', () => {
  it('does nothing until it is healed', async () => {
    const child = spawn(process.execPath, ['-e', `process.stdin.on('data', (data) => process.stdout.write(data))`]);
    healing(async () => child.kill('SIGKILL'));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    child.stdin.write('a');
    await eventually(() => said === 'a');
    const heal = await pauseProcess(child.pid ?? 0);
    child.stdin.write('b');
    await expect(eventually(() => said === 'ab', { timeout: 200 })).rejects.toThrow('Not within');
    await heal();
    await eventually(() => said === 'ab');
  });

  it('must be there', async () => {
    const child = spawn('true');
    await once(child, 'exit');
    await expect(pauseProcess(child.pid ?? 0)).rejects.toThrow(/could be stopped/);
  });
});

describe('a lock that is held', () => {
  it('makes others wait until it is healed', async () => {
    const url = await freshDatabase();
    const heal = await hold(url, 'LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
    const client = new Client({ connectionString: url });
    await client.connect();
    const waits = () =>
      client.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND relation = 'orders'::regclass`,
      );
    const other = new Client({ connectionString: url });
    await other.connect();
    const read = other.query('SELECT count(*) FROM orders');
    await eventually(async () => (await waits()).rows[0]?.n === 1);
    await heal();
    await read;
    await Promise.all([client.end(), other.end()]);
  });
});
