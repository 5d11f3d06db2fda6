import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { temporaryFolder } from './folders.mjs';
import { claimPort } from './ports.mjs';
import { postgresBinaries } from './postgres-binaries.mjs';
import { endServer, pausable, pauseProcesses, startServer, tail, untilReady } from './processes.mjs';
import { ServerError } from './server-error.mjs';

const USER = 'parley';
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
const DURABLE = { fsync: 'on', synchronous_commit: 'on' };

/**
 * Starts a PostgreSQL on 127.0.0.1. Without `dataDir` its data is temporary and goes with `stop()`.
 * `durable`: commits reach the disk; without it they survive a killed server but not a power cut.
 * `kill()` ends it as a crash does (SIGKILL, children too); `restart()` brings it back on the same port and data.
 */
export async function startPostgres({ dataDir, port: wanted, durable = false, settings = {} } = {}) {
  const program = await postgresBinaries();
  const port = await claimPort(wanted, 'PostgreSQL', '--postgres-port');
  const temporary = dataDir ? undefined : temporaryFolder('postgres');
  const base = dataDir ?? temporary;
  const data = join(base, 'data');
  const log = join(base, 'postgres.log');
  const flags = {
    listen_addresses: '127.0.0.1',
    port,
    // No socket file: as root the server runs as another account, which may not write beside the data.
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '128MB',
    ...(durable ? DURABLE : NOT_DURABLE),
    ...settings,
  };
  const args = ['-D', data, ...Object.entries(flags).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const url = (database) => `postgres://${USER}:${USER}@127.0.0.1:${port}/${database}`;
  let server;

  async function start() {
    refuseSecondServer(data);
    const { uid, gid, bin } = program;
    server = startServer(join(bin, 'postgres'), args, { log, signal: 'QUIT', remove: temporary, uid, gid, cwd: base });
    const state = await untilReady(server, () => answers(url('postgres')));
    if (state.ready) return;
    await endServer(server, 'SIGQUIT', 2000);
    throw new ServerError(`PostgreSQL did not start: ${state.why}.`, tail(log), `Read ${log}.`);
  }

  if (!existsSync(join(data, 'PG_VERSION'))) initialise(program, base, data, durable);
  await start();

  const { pause, resume } = pausable(() => pauseAll(server.pid));

  return {
    port,
    url,
    get pid() {
      return server.pid;
    },
    async createDatabase(name) {
      await run(url('postgres'), `CREATE DATABASE "${name}"`);
    },
    async kill() {
      const children = childrenOf(server.pid);
      await endServer(server, 'SIGKILL');
      await killAll(children);
      await resume();
    },
    pause,
    resume,
    async restart() {
      await resume();
      if (!server.ended) await endServer(server, 'SIGINT');
      await start();
    },
    async stop() {
      await resume();
      await endServer(server, temporary ? 'SIGQUIT' : 'SIGINT');
      if (temporary) rmSync(temporary, { recursive: true, force: true });
    },
  };
}

function initialise({ uid, gid, bin }, base, data, durable) {
  mkdirSync(base, { recursive: true });
  if (uid !== undefined) chownSync(base, uid, gid);
  rmSync(data, { recursive: true, force: true });
  // "trust": the server answers to this machine alone, and a password costs every connection 5 ms of hashing.
  const args = ['-D', data, '-U', USER, '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-instructions'];
  if (!durable) args.push('--no-sync');
  const made = spawnSync(join(bin, 'initdb'), args, { uid, gid, cwd: '/', encoding: 'utf8' });
  if (made.status === 0) return;
  throw new ServerError(
    `PostgreSQL could not make its data folder ${data}.`,
    (made.error?.message ?? made.stderr?.trim()) || `initdb ended with exit code ${made.status}`,
    'Choose a folder that its account can enter and write (as root that is "postgres").',
  );
}

/** A lock file of a server that is gone is stale; PostgreSQL would refuse it when its number was given to another process. */
function refuseSecondServer(data) {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (isPostgresOn(pid, data)) {
    throw new ServerError(
      `The data folder ${data} is in use.`,
      `PostgreSQL with process id ${pid} runs on it.`,
      'Stop that one first, or name another folder.',
    );
  }
  rmSync(file, { force: true });
}

function isPostgresOn(pid, data) {
  const found = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  if (!found.error) return found.stdout.includes(data);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data);
  } catch {
    return false;
  }
}

/** Its backends, writers and workers sit in sessions of their own: a signal to a group would miss them. */
function childrenOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return (spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).stdout ?? '')
      .split('\n')
      .filter(Boolean)
      .map(Number);
  }
}

/** The postmaster first: then it has no more children than those that are stopped. */
async function pauseAll(pid) {
  const resumeParent = await pauseProcesses([pid]);
  try {
    const resumeChildren = await pauseProcesses(childrenOf(pid));
    return () => resumeChildren().then(resumeParent);
  } catch (error) {
    await resumeParent();
    throw error;
  }
}

async function killAll(pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Ended by itself when it lost its parent.
    }
  }
  for (let attempt = 0; attempt < 500 && pids.some(isRunning); attempt++) await delay(10);
}

/** The dead keep their number until init takes it away, which some containers' never does: a zombie counts as gone. */
function isRunning(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)[0] !== 'Z';
  } catch {
    if (existsSync('/proc/self/stat')) return false;
  }
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** As patient as a machine may be slow; who asks again and again needs less. */
async function run(url, sql, connectMs = 60_000) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMs });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

const answers = (url) =>
  run(url, 'SELECT 1', 5000).then(
    () => true,
    () => false,
  );
