import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { asPartner, asParley, guardedKafka } from '../support/guarded-kafka';
import { uniqueName } from '../support/kafka';
import { ParleyProcess, Program } from '../support/parley-process';

const folder = mkdtempSync(join(tmpdir(), 'parley-certify-'));
const running: { end: (signal: NodeJS.Signals) => Promise<unknown> }[] = [];
afterEach(() => Promise.all(running.splice(0).map((program) => program.end('SIGKILL'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Only what is not answered takes so long, and all is answered here. */
const QUICK = ['--within-ms', '60000', '--settle-ms', '300', '--burst', '6'];

interface Report {
  passed: boolean;
  results: { name: string; verdict: string; reason?: string; seen: string[] }[];
}

const verdictsOf = ({ results }: Report) => Object.fromEntries(results.map(({ name, verdict }) => [name, verdict]));
const ALL_BUT = (names: Record<string, string>) => ({
  ...Object.fromEntries(
    [
      ...['connect', 'acl', 'accept', 'reject', 'change', 'same-request-twice', 'unknown-field', 'malformed-request'],
      ...['order-per-key', 'cancellation-crossing', 'broker-restart', 'schema'],
    ].map((name) => [name, 'passed']),
  ),
  ...names,
});

describe('parley certify', () => {
  it('tries a partner of ours under our account, keeps the result with it, and refuses while we read its answers', async () => {
    const partner = uniqueName('acme');
    const databaseUrl = await freshDatabase();
    const group = uniqueName('parley');
    const parley = await ParleyProcess.prepare(databaseUrl, { KAFKA_CONSUMER_GROUP: group });
    running.push(parley);
    const door = await parley.addPartner(partner, '--format', 'json', '--partitions', '2');
    const { args, env } = asPartner(door);
    running.push(Program.run('simulator/main.js', [...args, '--partner', `${partner}=json`], env));
    const own = { ...asParley(guardedKafka()), DATABASE_URL: databaseUrl, KAFKA_CONSUMER_GROUP: group };
    const certify = async (...options: string[]) => {
      const program = Program.run('cli/main.js', ['certify', partner, ...QUICK, ...options], {
        ...own,
        PARTNER_PASSWORD: env.PARTNER_PASSWORD,
      });
      return { code: await program.finished(), output: program.output, stdout: program.stdout };
    };

    const homeless = Program.run('cli/main.js', ['certify', partner], { DATABASE_URL: databaseUrl, ROLES: 'notifier' });
    expect(await homeless.finished()).toBe(1);
    expect(homeless.output).toMatch(/No broker is named to certify at\.\nSet KAFKA_BROKERS/);

    const files = { junit: join(folder, 'junit.xml'), ctrf: join(folder, 'ctrf.json') };
    const account = ['--partner-username', door.account.username];
    const first = await certify(...account, '--json', '--junit', files.junit, '--ctrf', files.ctrf);
    expect({ code: first.code, output: first.code === 0 ? '' : first.output }).toEqual({ code: 0, output: '' });
    const report = JSON.parse(first.stdout) as Report;
    expect(verdictsOf(report)).toEqual(ALL_BUT({ 'broker-restart': 'skipped' }));
    expect(readFileSync(files.junit, 'utf8')).toContain('tests="12" failures="0" errors="0" skipped="1"');
    expect(JSON.parse(readFileSync(files.ctrf, 'utf8'))).toMatchObject({
      results: { summary: { tests: 12, passed: 11, skipped: 1, failed: 0 } },
    });

    const client = new Client(databaseUrl);
    await client.connect();
    try {
      const { rows } = await client.query<{ passed: boolean; suite: string; days: number; brokers: number }>(
        `SELECT passed, suite, extract(day FROM expires_at - ran_at)::int AS days, jsonb_array_length(report -> 'brokers') AS brokers FROM partner_certification`,
      );
      expect(rows).toEqual([{ passed: true, suite: 'parley-certification-1', days: 90, brokers: 1 }]);
      const audit = await client.query("SELECT object FROM audit_entry WHERE action = 'partner.certify'");
      expect(audit.rows).toEqual([{ object: `partner/${partner}` }]);

      await parley.start();
      const refused = await eventually(
        async () => {
          const result = await certify('--connect-ms', '100');
          return result.code === 2 ? result : undefined;
        },
        { timeout: 60_000 },
      );
      expect(refused.output).toContain(`${group} reads orders.${partner}.response.v1`);
      expect(refused.output).toContain('--beside-company');
      const kept = await client.query<{ count: number }>('SELECT count(*)::int FROM partner_certification');
      const before = kept.rows[0]?.count;
      const beside = await certify('--beside-company');
      expect({ code: beside.code, said: beside.code === 0 ? '' : beside.output }).toEqual({ code: 0, said: '' });
      const after = await client.query<{ count: number }>('SELECT count(*)::int FROM partner_certification');
      expect(after.rows[0]?.count).toBe((before ?? 0) + 1);
    } finally {
      await client.end();
    }
  }, 180_000);

  it('starts a sandbox, tells how to get in, and tries a restart of the broker there', async () => {
    const certify = Program.run('cli/main.js', ['certify', 'acme', '--sandbox', '--json', ...QUICK], {});
    running.push(certify);
    const setting = (name: string) => new RegExp(`^  ${name} = (.+)$`, 'm').exec(certify.output)?.[1] ?? '';
    await eventually(() => setting('schema\\.registry\\.url') !== '' || !certify.alive, {
      timeout: 120_000,
      what: 'the settings are told',
    });
    const args = [
      ...['--brokers', setting('bootstrap\\.servers'), '--ca', setting('CA certificate')],
      ...[
        '--username',
        setting('username'),
        '--registry',
        setting('schema\\.registry\\.url'),
        '--partner',
        'acme=avro',
      ],
    ];
    running.push(Program.run('simulator/main.js', ['partner', ...args], { PARTNER_PASSWORD: setting('password') }));
    const code = await certify.finished();
    expect({ code, output: code === 0 ? '' : certify.output }).toEqual({ code: 0, output: '' });
    expect(verdictsOf(JSON.parse(certify.stdout) as Report)).toEqual(ALL_BUT({}));
  }, 240_000);
});
