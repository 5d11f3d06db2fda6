import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../scripts/servers/index.mjs';
import { closedLoop, median } from './measure.mjs';
import { LINES, PAYLOAD } from './orders.mjs';
import { makeDatabase } from './parley.mjs';
import { dropDatabase, settle } from './servers.mjs';
import pg from 'pg';

export const title = 'Reference: a transaction of two INSERTs (one order, one outbox message), Parley’s own tables';

const CLIENTS = 8;
const literal = (text) => `'${text.replaceAll("'", "''")}'`;

/** Into the real tables with all their indexes; numbers from the real sequence. */
const STATEMENTS = [
  `INSERT INTO orders (order_number, partner, state, version, currency, lines, deadline, created_at, updated_at)
   VALUES ('PO-' || lpad(nextval('order_number_seq')::text, 9, '0'), 'reference1', 'placed', 1, 'EUR', ${literal(JSON.stringify(LINES))}, now() + interval '1 hour', now(), now())`,
  `INSERT INTO outbox_message (id, aggregatetype, aggregateid, type, topic, partition, correlationid, traceparent, content_type, time, payload)
   VALUES (gen_random_uuid(), 'order', 'PO-000000001', 'parley.order-request.v1', 'orders.reference1.request.v1', 0, gen_random_uuid(),
     '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'application/json', now(), convert_to(${literal(PAYLOAD)}, 'UTF8'))`,
];

/** PostgreSQL's own load generator: from PATH, or where Debian puts it. */
function findPgbench() {
  const candidates = ['pgbench', ...globSync('/usr/lib/postgresql/*/bin/pgbench').sort().reverse()];
  return candidates.find((path) => spawnSync(path, ['--version']).status === 0);
}

async function withPgbench(program, servers, clients, seconds) {
  const folder = temporaryFolder('pgbench');
  const script = join(folder, 'two-inserts.sql');
  const oneLine = STATEMENTS.map((statement) => `${statement.replaceAll(/\s*\n\s*/g, ' ')};`);
  writeFileSync(script, ['BEGIN;', ...oneLine, 'COMMIT;', ''].join('\n'));
  const args = ['-n', '-M', 'prepared', '-c', clients, '-j', 2, '-T', seconds, '-f', script];
  args.push('-h', '127.0.0.1', '-p', servers.postgres.port, '-U', 'parley', 'reference');
  try {
    const text = await new Promise((resolve, reject) => {
      let output = '';
      const child = spawn(program, args.map(String), { env: { ...process.env, PGPASSWORD: 'parley' } });
      child.stdout.on('data', (data) => (output += data));
      child.stderr.on('data', (data) => (output += data));
      child.once('error', reject);
      child.once('exit', () => resolve(output));
    });
    const tps = Number(/^tps = ([\d.]+)/m.exec(text)?.[1]);
    if (!tps) throw new Error(`pgbench said:\n${text}`);
    return tps;
  } finally {
    if (existsSync(folder)) rmSync(folder, { recursive: true });
  }
}

async function withPg(servers, callers, seconds) {
  const url = servers.postgres.url('reference');
  const clients = await Promise.all(
    Array.from({ length: callers }, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return client;
    }),
  );
  const free = [...clients];
  const run = async () => {
    const client = free.pop();
    await client.query('BEGIN');
    for (const [index, text] of STATEMENTS.entries()) await client.query({ name: `insert${index}`, text });
    await client.query('COMMIT');
    free.push(client);
  };
  try {
    return (await closedLoop({ callers, ms: seconds * 1000, work: run })).perSecond;
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

/** Gives `reference.tps`, against which the others are measured. */
export async function run({ servers, quick, report, reference }) {
  await makeDatabase(servers, 'reference', { partners: 1 });
  const program = findPgbench();
  const tool = program ? 'pgbench -M prepared' : 'pg clients (pgbench was not found)';
  const measure = (clients, seconds) =>
    program ? withPgbench(program, servers, clients, seconds) : withPg(servers, clients, seconds);
  const seconds = quick ? 2 : 6;
  await measure(CLIENTS, quick ? 1 : 3);
  const rates = [];
  for (let round = 0; round < (quick ? 1 : 3); round++) rates.push(await measure(CLIENTS, seconds));
  reference.tps = median(rates);
  report({ name: `two INSERTs, ${CLIENTS} clients, ${tool}`, value: reference.tps, unit: 'tx/s' });
  reference.alone = await measure(1, quick ? 1 : 4);
  report({ name: `two INSERTs, 1 client, ${tool}`, value: reference.alone, unit: 'tx/s' });
  await dropDatabase(servers, 'reference');
  await settle(servers);
}
