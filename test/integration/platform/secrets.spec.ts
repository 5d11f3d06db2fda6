import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../../../scripts/servers/index.mjs';
import { createSchemaRegistry } from '../../../src/messaging/registry';
import { type Config, loadConfig } from '../../../src/platform/config';
import { Database } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { type Running, start } from '../../../src/start';
import { testConfig } from '../../support/config';
import { migrateDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { giveKey } from '../../support/staff';
import { startReplay } from '../registry/replay-server';

describe('a secret that is rotated under a running process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rotated-'));
  const path = join(folder, 'secret');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is what the schema registry is asked with from the next request on', async () => {
    const server = await startReplay(() => ({ body: [] }));
    writeFileSync(path, 'token-one\n');
    const env = { DATABASE_URL: 'postgres://x/y', KAFKA_BROKERS: 'unused:1', SCHEMA_REGISTRY_URLS: server.url };
    const registry = createSchemaRegistry(loadConfig({ ...env, SCHEMA_REGISTRY_TOKEN_FILE: path }));
    try {
      const sent = async () => {
        await registry.versions('orders-value');
        return server.heard.at(-1)?.headers.authorization;
      };
      expect(await sent()).toBe('Bearer token-one');
      writeFileSync(path, 'token-two\n');
      await eventually(async () => (await sent()) === 'Bearer token-two');
    } finally {
      await registry.close();
      await server.stop();
    }
  });

  describe('of the database', () => {
    let postgres: PostgresServer;
    let administrator: Client;
    let config: Config;
    let running: Running;
    let rules: string;
    const url = (password: string) => `postgres://app:${password}@127.0.0.1:${postgres.port}/rotated`;

    beforeAll(async () => {
      rules = mkdtempSync(join(tmpdir(), 'hba-'));
      const hba = join(rules, 'pg_hba.conf');
      // The server has an account of its own, which reads this.
      chmodSync(rules, 0o755);
      writeFileSync(hba, 'host all app 127.0.0.1/32 scram-sha-256\nhost all parley 127.0.0.1/32 trust\n', {
        mode: 0o644,
      });
      postgres = await startPostgres({ settings: { hba_file: hba } });
      await postgres.createDatabase('rotated');
      await migrateDatabase(postgres.url('rotated'));
      administrator = new Client({ connectionString: postgres.url('rotated') });
      await administrator.connect();
      await administrator.query(`CREATE ROLE app SUPERUSER LOGIN PASSWORD 'first'`);
      writeFileSync(path, url('first'));
      config = testConfig('', { DATABASE_URL_FILE: path, SHUTDOWN_TIMEOUT_MS: '4000', ROLES: 'api,relay' });
      running = await start(config, createLogger('silent', 'test'));
      await running.started;
    });
    afterAll(async () => {
      await running?.lifecycle.stop('test');
      await administrator?.end();
      await postgres?.stop();
      rmSync(rules, { recursive: true, force: true });
    });

    /** Process ids by what the connections call themselves, numbers and host left out. */
    const connections = async (): Promise<Map<string, number>> => {
      const { rows } = await administrator.query<{ name: string; pid: number }>(
        `SELECT trim(replace(application_name, $1, '')) AS name, max(pid) AS pid FROM pg_stat_activity WHERE usename = 'app' GROUP BY 1`,
        [config.instanceId],
      );
      return new Map(rows.map(({ name, pid }) => [name, pid]));
    };

    it('leaves open connections alone, and is what each new one is made with: pool and relay', async () => {
      const { headers } = await giveKey(running.app.get(Database));
      const status = async () => (await fetch(`${running.apiUrl}/v1/orders`, { headers })).status;
      const before = await eventually(async () => {
        const found = await connections();
        return found.size >= 3 ? found : undefined;
      });
      expect([...before.keys()].sort()).toEqual(['parley', 'parley relay read', 'parley relay write']);

      await administrator.query(`ALTER ROLE app PASSWORD 'second'`);
      // By the connection that is open: where a background loop has it, one more is made, which the late file keeps out.
      await eventually(async () => (await status()) === 200);
      expect((await connections()).get('parley relay read')).toBe(before.get('parley relay read'));

      // Connections go, and the file is late: an outage, which ends with the file.
      await administrator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'`);
      await eventually(async () => (await status()) === 503);
      writeFileSync(path, url('second'));
      await eventually(async () => (await status()) === 200);
      await eventually(async () => {
        const now = await connections();
        expect([...now.keys()].sort()).toEqual(['parley', 'parley relay read', 'parley relay write']);
        for (const [name, pid] of now) expect([name, pid]).not.toEqual([name, before.get(name)]);
        return true;
      });
    });
  });
});
