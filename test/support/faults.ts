import { Client } from 'pg';
import {
  type KafkaOptions,
  type KafkaServer,
  pauseProcesses,
  type PostgresOptions,
  type PostgresServer,
  type SingleKafka,
  startKafka,
  startPostgres,
} from '../../scripts/servers/index.mjs';
import { startTcpProxy, type Target, type TcpProxy } from './tcp-proxy';

/**
 * Faults that tests make. Each returns its {@link Heal}; what is not healed when the test ends is healed then, newest
 * first, also when the test failed (in a `beforeAll`: after the first test). Servers and wires that a spec starts here
 * live until its last test. Faults of topics and rights: `topic-faults.ts`.
 *
 * | fault                       | a client sees                                                            |
 * | --------------------------- | ------------------------------------------------------------------------ |
 * | `kill`                      | connections break, new ones are refused; what was not durable is lost    |
 * | `pause`, `silence`          | connections stay open, new ones are taken, nobody answers                |
 * | `refuse`, `wire.cutAll()`   | new connections are reset · those that are open break, new ones are taken |
 * | `slowDown`, `loseAnswers`   | every piece of data comes late · the server did the work, and nobody hears |
 * | `pauseProcess`              | a process of ours that hangs: its connections stay, its leases run out    |
 * | `hold`                      | a lock is taken: forces who waits for whom                               |
 */
export type Heal = () => Promise<void>;

const faults = new Set<Heal>();
const owned = new Set<Heal>();

// Where this is imported first, a spec's own afterEach and afterAll of the file's top level run behind these.
afterEach(() => undo(faults), 120_000);
afterAll(() => undo(owned), 60_000);

/** Newest first, also when one fails. */
async function undo(list: Set<Heal>): Promise<void> {
  const failures: unknown[] = [];
  for (const step of [...list].toReversed()) await step().catch((error: unknown) => failures.push(error));
  list.clear();
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
}

function remembered(list: Set<Heal>, step: () => Promise<unknown>): Heal {
  let done: Promise<void> | undefined;
  const heal = () => {
    list.delete(heal);
    return (done ??= step().then(() => undefined));
  };
  list.add(heal);
  return heal;
}

/** A fault of one's own: `step` undoes it, once, at the latest when the test ends. */
export const healing = (step: () => Promise<unknown>): Heal => remembered(faults, step);

/** Ends with the last test of the file, before the servers that were started earlier. */
export const atEnd = (step: () => Promise<unknown>): Heal => remembered(owned, step);

/** A PostgreSQL of the spec file's own, durable: what a crash may forget is mostly the point. */
export async function ownPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const server = await startPostgres({ durable: true, ...options });
  atEnd(() => server.stop());
  return server;
}

export async function ownKafka(options: KafkaOptions = {}): Promise<SingleKafka> {
  const server = await startKafka(options);
  atEnd(() => server.stop());
  return server;
}

/** A wire to `target` for the spec file. */
export async function ownWire(target: Target): Promise<TcpProxy> {
  const wire = await startTcpProxy(target);
  atEnd(() => wire.close());
  return wire;
}

type Server = Pick<PostgresServer | KafkaServer, 'kill' | 'restart' | 'pause' | 'resume'>;

/** SIGKILL, as a crash does. Healing starts it again on its port and data. `n`: of a cluster's brokers, from 0. */
export async function kill(server: Server, n = 0): Promise<Heal> {
  const heal = healing(() => server.restart(n));
  await server.kill(n);
  return heal;
}

/** The machine hangs. */
export async function pause(server: Server, n = 0): Promise<Heal> {
  await server.pause(n);
  return healing(() => server.resume(n));
}

/** SIGSTOP to a process of ours; healing continues it. */
export async function pauseProcess(pid: number): Promise<Heal> {
  return healing(await pauseProcesses([pid]));
}

function onWire(set: (on: boolean) => void): Heal {
  set(true);
  return healing(async () => set(false));
}

/** New connections are reset; what is open stays until `wire.cutAll()`. */
export const refuse = (wire: TcpProxy): Heal => onWire((on) => wire.refuse(on));

/** Nothing passes in either direction, and nothing is closed: a black hole. */
export const silence = (wire: TcpProxy): Heal => onWire((on) => (on ? wire.pause() : wire.resume()));

/** Every piece of data takes `ms` longer. */
export const slowDown = (wire: TcpProxy, ms: number): Heal => onWire((on) => wire.delay(on ? ms : 0));

/** The server gets the requests and does them; its answers are lost. */
export const loseAnswers = (wire: TcpProxy): Heal => onWire((on) => wire.dropResponses(on));

/**
 * Runs `sql` in a transaction that stays open on a connection of its own: `LOCK TABLE …`, `SELECT … FOR UPDATE`,
 * `SELECT pg_advisory_xact_lock(…)`. Healing rolls it back.
 */
export async function hold(databaseUrl: string, sql: string, values: unknown[] = []): Promise<Heal> {
  const client = new Client({ connectionString: databaseUrl, application_name: 'fault' });
  client.on('error', () => undefined);
  await client.connect();
  const heal = healing(() => client.end());
  await client.query('BEGIN');
  await client.query(sql, values);
  return heal;
}
