import { execFile, fork, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The compiled program; `npm run bench` builds it first. */
const load = createRequire(import.meta.url);
load('reflect-metadata');
const { DataSource } = load('typeorm');
const { MIGRATIONS } = load('../dist/migrations/index.js');
const { loadConfig } = load('../dist/src/platform/config/index.js');
const { systemClock } = load('../dist/src/platform/clock.js');
const { Database, dataSourceOptions, migrate } = load('../dist/src/platform/database/index.js');
const { createLogger } = load('../dist/src/platform/telemetry/index.js');
const { ensurePartitions } = load('../dist/src/messaging/outbox/index.js');
const { specOf, withOnboarder } = load('../dist/src/partners/index.js');
const { ApiKeys } = load('../dist/src/staff/index.js');

export { load };

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Environment of a Parley process on these servers. */
export const environment = (servers, database, more = {}) => ({
  DATABASE_URL: servers.postgres.url(database),
  KAFKA_BROKERS: servers.kafka.brokers,
  KAFKA_REPLICATION_FACTOR: '1',
  ...servers.access?.environment,
  KAFKA_CONSUMER_GROUP: database,
  HTTP_PORT: '0',
  MANAGEMENT_PORT: '0',
  LOG_LEVEL: 'warn',
  ...more,
});

export const configOf = (servers, database, more) => loadConfig(environment(servers, database, more));

export const logger = () => createLogger(process.env.BENCH_LOG ?? 'warn', 'bench');

/** What the broker can do is measured, not where it slows a partner down. */
const UNLIMITED = { producerBytesPerSecond: 0, consumerBytesPerSecond: 0, requestPercent: 0 };

/**
 * A migrated database with partners `<name>1` … and their topics, and outbox partitions ahead; resolves with the partners'
 * ids. Topics carry the database's name, so that one broker serves all measurements.
 */
export async function makeDatabase(
  servers,
  name,
  { partners = 2, partitions = 6, outboxPartitionRows = 5_000_000, format = 'json' } = {},
) {
  await servers.postgres.createDatabase(name);
  const { access } = servers;
  const config = configOf(servers, name, access?.administration);
  const dataSource = await new DataSource(
    dataSourceOptions(config, { entities: [], migrations: MIGRATIONS }),
  ).initialize();
  try {
    await migrate(dataSource);
    const database = new Database(dataSource);
    await ensurePartitions(database, { rows: outboxPartitionRows });
    const ids = Array.from({ length: partners }, (_, index) => `${name}${index + 1}`);
    const by = { id: 'bench', name: 'bench', role: 'admin', areas: null, partners: null, origin: 'bench' };
    await withOnboarder({ database, config, clock: systemClock }, async (onboarder) => {
      for (const partner of ids) {
        const { account } = await onboarder.apply(
          specOf({ partner, format, partitions, quotas: UNLIMITED }, config),
          by,
        );
        if (account) access.remember(partner, account);
      }
    });
    return ids;
  } finally {
    await dataSource.destroy();
  }
}

/** An API key in a migrated database: its token. */
export async function makeKey(servers, name) {
  const options = dataSourceOptions(configOf(servers, name), { entities: [], migrations: [] });
  const dataSource = await new DataSource(options).initialize();
  const key = { name: 'bench', role: 'operator', areas: null, partners: null, expiresAt: null };
  const by = { id: 'bench', name: 'bench', role: 'admin', areas: null, partners: null, origin: 'bench' };
  try {
    return (await new ApiKeys(new Database(dataSource), systemClock).create(by, key)).token;
  } finally {
    await dataSource.destroy();
  }
}

/** Registers the schemas of all partners of a database. */
export async function publishSchemas(env) {
  const run = promisify(execFile);
  await run(process.execPath, [path('../dist/src/cli/main.js'), 'contracts', 'publish', '--yes'], {
    env: { ...process.env, ...env },
  });
}

/** The program in this process, with the roles of the environment. */
export async function startHere(servers, database, more) {
  const { start } = load('../dist/src/start.js');
  const running = await start(configOf(servers, database, more), logger());
  await running.started;
  return { ...running, stop: () => running.lifecycle.stop('the benchmark is over') };
}

/** `--profile DIR`: processes write a CPU profile there when they end. */
const profileArgs = () =>
  process.env.BENCH_PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`] : [];

const lines = (child) => createInterface({ input: child.stdout });

function ended(child, name) {
  return new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, by) => reject(new Error(`${name} ended early (${by ?? code})`)));
  });
}

async function untilLine(child, name, test) {
  const early = ended(child, name);
  early.catch(() => undefined);
  const found = new Promise((resolve) => {
    lines(child).on('line', (line) => {
      const value = test(line);
      if (value) resolve(value);
    });
  });
  return Promise.race([found, early]);
}

/** Ends a child in order; SIGKILL when it takes too long. */
function stopper(child) {
  return () =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      child.once('exit', () => {
        clearTimeout(timer);
        resolve();
      });
      child.kill('SIGTERM');
    });
}

/** dist/src/main.js as a process of its own; `apiUrl` where it has that role. */
export async function spawnParley(env) {
  const child = spawn(process.execPath, [...profileArgs(), path('../dist/src/main.js')], {
    env: { ...process.env, ...env, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const apiUrl = await untilLine(child, 'Parley', (line) => {
    const entry = line.startsWith('{') ? JSON.parse(line) : {};
    return entry.msg === 'started' ? (entry.api ?? 'none') : undefined;
  });
  return { pid: child.pid, apiUrl, stop: stopper(child) };
}

/** The simulated partner, a process with a Kafka client of its own. */
export async function spawnSimulator(servers, partners, { format = 'json', registryUrl } = {}) {
  const args = ['--brokers', servers.kafka.brokers];
  if (servers.access) args.push('--ca', servers.kafka.caFile, '--accounts', servers.access.accountsFile);
  args.push(...partners.flatMap((partner) => ['--partner', `${partner}=${format}`]));
  if (registryUrl) args.push('--registry', registryUrl);
  const child = spawn(process.execPath, [...profileArgs(), path('../dist/src/simulator/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await untilLine(child, 'the simulator', (line) => line.startsWith('ready'));
  return { pid: child.pid, stop: stopper(child) };
}

/** A Parley process that also places orders through its own service API, on request (driver.mjs). */
export async function spawnDriver(env) {
  const child = fork(path('driver.mjs'), {
    env: { ...process.env, ...env },
    execArgv: profileArgs(),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const pending = new Map();
  let last = 0;
  const early = ended(child, 'the driver');
  early.catch((error) => pending.forEach(({ reject }) => reject(error)));
  child.on('message', ({ id, result, error }) => {
    const call = pending.get(id);
    pending.delete(id);
    if (error) call?.reject(new Error(error));
    else call?.resolve(result);
  });
  const call = (verb, argument) =>
    new Promise((resolve, reject) => {
      pending.set(++last, { resolve, reject });
      child.send({ id: last, verb, argument });
    });
  await call('start');
  return { pid: child.pid, call, stop: stopper(child) };
}
