import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../../scripts/servers/index.mjs';
import { eventually } from '../support/eventually';
import { asPartner, doorOf, startGuardedKafka } from '../support/guarded-kafka';
import { readAll, uniqueName } from '../support/kafka';
import { OrderLoad } from '../support/order-load';
import { ParleyProcess, Program } from '../support/parley-process';

// Durable servers of its own: what a crash may forget is the point.
let postgres: PostgresServer;
let kafka: Awaited<ReturnType<typeof startGuardedKafka>>;
let folder: string;

beforeAll(async () => {
  [postgres, kafka, folder] = await Promise.all([
    startPostgres({ durable: true }),
    startGuardedKafka(),
    mkdtemp(join(tmpdir(), 'parley-crash-')),
  ]);
});

afterAll(async () => {
  await Promise.all([postgres.stop(), kafka.stop(), rm(folder, { recursive: true, force: true })]);
});

interface System {
  parley: ParleyProcess;
  partner: string;
  journal: string;
  load: OrderLoad;
  simulator: Program;
  sql: (text: string) => Promise<Record<string, unknown>[]>;
}

/** A company and a partner whose answers are an acknowledgement, then an acceptance: two messages of one key, in order. */
async function startSystem(): Promise<System> {
  const database = uniqueName('crash').replace('-', '_');
  await postgres.createDatabase(database);
  const partner = uniqueName('acme');
  const parley = await ParleyProcess.prepare(
    postgres.url(database),
    {
      RELAY_LEASE_MS: '2000',
      // The shortest that brokers allow: a killed member's partitions wait for it.
      KAFKA_SESSION_TIMEOUT_MS: '6000',
      LOG_LEVEL: 'warn',
    },
    kafka,
  );
  await parley.cli('migrate');
  const { args, env } = asPartner(await parley.addPartner(partner, '--format', 'json'));
  const journal = join(folder, `${partner}.jsonl`);
  const manners = ['--partner', `${partner}=json`, '--behaviour', 'slow', '--slow-ms', '50', '--journal', journal];
  const simulator = Program.run('simulator/main.js', [...args, ...manners], env);
  await parley.start();
  await parley.key();
  const sql = async (text: string): Promise<Record<string, unknown>[]> => {
    const client = new Client({ connectionString: postgres.url(database) });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  return { parley, partner, journal, simulator, sql, load: new OrderLoad(parley, partner, 30) };
}

async function stopSystem(system: System): Promise<void> {
  await system.load.stop().catch(() => undefined);
  await Promise.all([system.parley.end('SIGKILL'), system.simulator.end('SIGKILL')]);
}

/** Also where the machine is so busy that few orders were accepted between the crashes. */
const enough = ({ load }: System) =>
  eventually(() => load.accepted.size > 100, { timeout: 60_000, what: 'more than a hundred orders are accepted' });

/** Every accepted order was answered, nothing was applied twice, order per key held, nothing unasked reached the partner. */
async function expectNothingLostOrRepeated({ parley, partner, journal, load, sql }: System): Promise<void> {
  const accepted = [...load.accepted.values()];
  expect(new Set(accepted).size).toBe(accepted.length);
  await eventually(
    async () => (await sql(`SELECT count(*)::int AS n FROM orders WHERE state <> 'accepted'`))[0]?.['n'] === 0,
    {
      timeout: 120_000,
      interval: 500,
      what: `every order is accepted; Parley printed: ${parley.output.slice(-3000)}`,
    },
  );
  const orders = await sql(
    `SELECT o.order_number AS number, string_agg(e.type, ',' ORDER BY e.version) AS story FROM orders o JOIN order_event e USING (order_number) GROUP BY 1`,
  );
  expect(orders.map((row) => row['number']).sort()).toEqual(accepted.sort());
  expect([...new Set(orders.map((row) => row['story']))]).toEqual(['placed,acknowledged,accepted']);
  // What was kept of a suspended partner was never tried before.
  expect(await sql(`SELECT code, state FROM parked_inbound WHERE state <> 'processed' OR code IS NOT NULL`)).toEqual(
    [],
  );
  expect(await sql(`SELECT state FROM exchange WHERE state <> 'answered'`)).toEqual([]);

  const seen = (await readFile(journal, 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { kind: string; order: string; id: string });
  const heard = new Map(seen.filter((line) => line.kind === 'seen').map((line) => [line.id, line.order]));
  expect([...heard.values()].sort()).toEqual(accepted.sort());

  const published = await readAll(`orders.${partner}.request.v1`, doorOf(kafka, kafka.admin));
  expect(new Set(published.map((record) => record.headers['ce_id']?.toString())).size).toBe(accepted.length);
}

describe('a crash', () => {
  it('of the process at random moments under load loses, repeats and reorders nothing', async () => {
    const system = await startSystem();
    try {
      system.load.start(8);
      let kills = 0;
      while (kills < 10) {
        await delay(500 + Math.random() * 4000);
        await system.parley.end('SIGKILL');
        kills++;
        system.parley.launch();
        // Every other time it dies while it starts or picks up what the last one left.
        if (kills % 2 === 0) await system.parley.ready();
      }
      await enough(system);
      await system.load.stop();
      await system.parley.ready();
      await expectNothingLostOrRepeated(system);
    } finally {
      await stopSystem(system);
    }
  }, 480_000);

  it('of the database and of the broker under load is survived by the living process', async () => {
    const system = await startSystem();
    try {
      system.load.start(8);
      for (let round = 0; round < 3; round++) {
        await delay(1500 + Math.random() * 1500);
        await postgres.kill();
        await delay(Math.random() * 1500);
        await postgres.restart();
        await delay(1500 + Math.random() * 1500);
        await kafka.kill();
        await delay(Math.random() * 1500);
        await kafka.restart();
      }
      await enough(system);
      await system.load.stop();
      expect(system.parley.alive).toBe(true);
      await expectNothingLostOrRepeated(system);
    } finally {
      await stopSystem(system);
    }
  }, 480_000);

  it('while the partner is suspended and both sides go on, and a resumption, lose, repeat and reorder nothing', async () => {
    const system = await startSystem();
    const { parley, partner, load, sql } = system;
    const change = async (...args: string[]) => {
      const env = { PARLEY_URL: parley.apiUrl, PARLEY_API_KEY: (await parley.key()).token };
      const program = Program.run('cli/main.js', ['partner', ...args, '--json'], env);
      expect([await program.finished(), program.output]).toEqual([0, expect.stringContaining(partner)]);
      return (JSON.parse(program.stdout) as { state: string }).state;
    };
    const count = async (from: string) => Number((await sql(`SELECT count(*)::int AS n FROM ${from}`))[0]?.['n']);
    const applied = () => count(`order_event WHERE type <> 'placed'`);
    try {
      load.start(8);
      for (let round = 0; round < 2; round++) {
        const before = await applied();
        await eventually(async () => (await applied()) > before + 50, { timeout: 60_000, what: 'answers are applied' });
        expect(await change('suspend', partner, '--reason', 'a test')).toBe('suspended');
        const applicable = await applied();
        const placed = load.accepted.size;
        await eventually(() => count(`parked_inbound WHERE state IN ('waiting', 'held')`), {
          what: 'answers are kept',
        });
        await eventually(() => count(`parked_outbound WHERE state = 'waiting'`), {
          what: 'requests wait',
        });
        await parley.end('SIGKILL');
        await parley.start();
        await eventually(() => load.accepted.size > placed + 20, { timeout: 60_000, what: 'orders are accepted' });
        expect(await applied()).toBe(applicable);
        expect(await change('resume', partner)).toBe('active');
      }
      await load.stop();
      await expectNothingLostOrRepeated(system);
    } finally {
      await stopSystem(system);
    }
  }, 480_000);
});
