import { rmSync } from 'node:fs';
import pg from 'pg';
import { Access } from '../scripts/demo/access.mjs';
import { startKafka, startPostgres, temporaryFolder } from '../scripts/servers/index.mjs';

/**
 * Everything durable. The sizes keep checkpoints out of the single measurements (one is made between them); the reference
 * runs on the same server with the same settings.
 */
export const POSTGRES_SETTINGS = { shared_buffers: '1GB', max_wal_size: '8GB', checkpoint_timeout: '30min' };

/** PostgreSQL and one broker with the full compiler, both temporary. */
export async function startServers(report) {
  const started = await Promise.allSettled([
    startPostgres({ durable: true, settings: POSTGRES_SETTINGS }),
    startKafka({ load: true, heapMb: 512, report }),
  ]);
  const stop = () => Promise.all(started.map((result) => result.value?.stop()));
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const [postgres, kafka] = started.map((result) => result.value);
  return { postgres, kafka, stop };
}

/** The same servers with a guarded broker in place of theirs: TLS, accounts, rights. `stop()` ends that broker. */
export async function withGuard(servers) {
  const folder = temporaryFolder('bench-guarded');
  const access = new Access(folder);
  const kafka = await startKafka({ secure: true, accounts: [access.parley], load: true, heapMb: 512 });
  access.use(kafka);
  const stop = () => kafka.stop().finally(() => rmSync(folder, { recursive: true, force: true }));
  return { ...servers, kafka, access, stop };
}

/** Runs `work` with a client of its own. */
export async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** What earlier measurements left to be written to the disk is written before the next one begins. */
export const settle = (servers) => withClient(servers.postgres.url('postgres'), (client) => client.query('CHECKPOINT'));

/** Drops a database whose measurement is over: its files would only fill the cache. */
export const dropDatabase = (servers, name) =>
  withClient(servers.postgres.url('postgres'), (client) =>
    client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`),
  );
