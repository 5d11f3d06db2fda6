import { spawnSync } from 'node:child_process';
import { Client } from 'pg';
import { PROBLEM_CODES } from '../../src/platform/http';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { asAdministrator, asParley, guardedKafka } from '../support/guarded-kafka';
import { uniqueName, withAdmin } from '../support/kafka';
import { Program } from '../support/parley-process';

const parley = (args: string[], databaseUrl = 'postgres://127.0.0.1:1/none', env: NodeJS.ProcessEnv = {}) =>
  Program.run('cli/main.js', args, {
    DATABASE_URL: databaseUrl,
    ...asParley(guardedKafka()),
    ...asAdministrator(guardedKafka()),
    ...env,
  });

describe('the command line', () => {
  it.each([
    ['an unknown command', ['bogus']],
    ['an unknown option', ['migrate', '--nope']],
    ['a group without its command', ['partner']],
    ['a missing argument of a command in a group', ['partner', 'add']],
    ['a value that is none', ['partner', 'add', 'acme', '--partitions', '0']],
    ['a format that is none', ['partner', 'add', 'acme', '--format', 'xml']],
    ['an unknown option of a command in a group', ['config', 'print', '--nope']],
  ])('ends with 2 for %s', async (_, args) => {
    const program = parley(args);
    expect(await program.finished()).toBe(2);
    expect(program.output).not.toBe('');
  });

  it.each([
    ['a command', ['bogus'], 'parley --help'],
    ['an option', ['migrate', '--nope'], 'parley migrate --help'],
    ['an option of a command in a group', ['orders', 'list', '--nope'], 'parley orders list --help'],
    ['a command of a group', ['orders', 'lst'], 'parley orders --help'],
    ['an argument that is missing', ['orders', 'show'], 'parley orders show --help'],
    ['a value that is none', ['partner', 'add', 'acme', '--partitions', '0'], 'parley partner add --help'],
  ])('says what is wrong with %s, and whose help says more', async (_, args, help) => {
    const program = parley(args);
    expect(await program.finished()).toBe(2);
    expect(program.stdout).toBe('');
    expect(program.output).toMatch(/^error: .*\n/);
    expect(program.output.endsWith(`\nSee: ${help}\n`)).toBe(true);
  });

  it('says of a failure what the page of its code says, where the place at which it failed says nothing more', async () => {
    const program = parley(['key', 'revoke', 'key_000000000000'], await freshDatabase());
    expect(await program.finished()).toBe(1);
    const { help = '' } = PROBLEM_CODES['api-key-unknown'] ?? {};
    expect(help).not.toBe('');
    expect(program.output).toBe(`parley: There is no API key with this id.\n${help}\n`);
  });

  it.each([[['--help']], [['partner', 'add', '--help']]])('ends with 0 for %s', async (args) => {
    const program = parley(args);
    expect(await program.finished()).toBe(0);
    expect(program.output).toContain('parley partner add acme');
  });

  it('ends with 1 and says what to look at where the database is not there', async () => {
    const program = parley(['key', 'list']);
    expect(await program.finished()).toBe(1);
    expect(program.output).toMatch(/^parley: The database cannot be reached\.\nCause: .*\nCheck DATABASE_URL/);
  });

  it('ends with 1 and names the command to run first where the schema is not there, before any topic is made', async () => {
    const url = new URL(await freshDatabase());
    const admin = new Client({ connectionString: url.href });
    await admin.connect();
    await admin.query('DROP TABLE channel, partner, channel_version, schema_migration CASCADE');
    await admin.end();
    const id = uniqueName('acme');
    const program = parley(['partner', 'add', id], url.href);
    expect(await program.finished()).toBe(1);
    expect(program.output).toMatch(/^parley: relation .* does not exist\n.*run "parley migrate" first\.$/m);
    expect(await withAdmin(undefined, (kafka) => kafka.listTopics())).not.toContain(`orders.${id}.request.v1`);
  });

  it('shows a configuration without its secrets', async () => {
    const program = parley(['config', 'print'], 'postgres://parley:hunter2@127.0.0.1:1/none');
    expect(await program.finished()).toBe(0);
    expect(program.output).toMatch(/^HTTP_PORT=3000$/m);
    expect(program.output).not.toContain('hunter2');
  });

  it('does its work where nobody reads what it prints', () => {
    // A pipe, since a socket tells only later that nobody is there.
    const script = 'exec 9> >(exec true); wait $!; exec "$0" dist/src/cli/main.js config print >&9';
    const env = {
      PATH: process.env['PATH'],
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      KAFKA_BROKERS: '127.0.0.1:1',
    };
    const { status, stderr } = spawnSync('bash', ['-c', script, process.execPath], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('says of partners what is stored, as JSON too', async () => {
    const url = await freshDatabase();
    const id = uniqueName('acme');
    const add = (...more: string[]) =>
      parley(['partner', 'add', id, '--name', 'Acme', '--partitions', '2', ...more], url);
    const added = add('--json');
    expect(await added.finished()).toBe(0);
    const { partner, channels } = JSON.parse(added.output) as { partner: string; channels: Record<string, unknown>[] };
    expect(partner).toBe(id);
    expect(channels).toContainEqual(
      expect.objectContaining({ topic: `orders.${id}.request.v1`, partitions: 2, format: 'avro' }),
    );
    expect(channels).toContainEqual(
      expect.objectContaining({ topic: `errors.${id}.v1`, partitions: 2, format: 'json', direction: 'out' }),
    );
    const again = add();
    expect(await again.finished()).toBe(0);
    expect(again.output).toContain(`we write   orders.${id}.request.v1 (2 partitions, avro)`);
    expect(again.output).toMatch(/ whose schemas are in a registry, and none is configured: set SCHEMA_REGISTRY_URLS/);
    const otherwise = add('--format', 'protobuf');
    expect(await otherwise.finished()).toBe(1);
    expect(otherwise.output).toMatch(/speaks avro, and a channel never changes.*\n.*--format avro/);
    const reader = new Client({ connectionString: url });
    await reader.connect();
    const { rows } = await reader.query('SELECT id, name, state FROM partner').finally(() => reader.end());
    expect(rows).toEqual([{ id, name: 'Acme', state: 'active' }]);
  });

  it('migrates behind another that migrates, however long that takes', async () => {
    const url = await freshDatabase();
    const other = new Client({ connectionString: url });
    await other.connect();
    try {
      await other.query('SELECT pg_advisory_lock(7275391)');
      const program = parley(['migrate'], url, { DATABASE_STATEMENT_TIMEOUT_MS: '100' });
      await eventually(
        async () => {
          if (!program.alive) throw new Error(`it ended: ${program.output}`);
          const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory' AND clock_timestamp() - query_start > interval '400 ms'`;
          return (await other.query(waits)).rows.length > 0;
        },
        { what: 'it waits for longer than a statement may take' },
      );
      await other.query('SELECT pg_advisory_unlock(7275391)');
      expect(await program.finished()).toBe(0);
      expect(program.output).toBe('The schema is up to date.\n');
    } finally {
      await other.end();
    }
  });
});
