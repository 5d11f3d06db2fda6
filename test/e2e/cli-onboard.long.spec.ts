import { loadAll } from 'js-yaml';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDatabase } from '../support/database';
import { asAdministrator, asParley, doorOf, guardedKafka } from '../support/guarded-kafka';
import { createTopic, readAll, uniqueName } from '../support/kafka';
import { Program } from '../support/parley-process';

const kafka = guardedKafka();
const folder = mkdtempSync(join(tmpdir(), 'parley-onboard-'));
let url: string;
let group: string;

beforeAll(async () => {
  url = await freshDatabase();
  group = uniqueName('parley');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** `parley partner onboard …` with a file of these lines. */
function onboard(partner: string, lines: string, options: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const file = join(folder, `${partner}.yaml`);
  writeFileSync(file, `partner: ${partner}\nformat: json\npartitions: 1\n${lines}`);
  return run(['onboard', partner, '--file', file, ...options], env);
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const program = Program.run('cli/main.js', ['partner', ...args], {
    ...{ DATABASE_URL: url, KAFKA_CONSUMER_GROUP: group, ...asParley(kafka), ...asAdministrator(kafka) },
    ...env,
  });
  const code = await program.finished();
  return { code, stdout: program.stdout, output: program.output };
}

describe('parley partner onboard', () => {
  it('plans, applies that plan and no other, and tells a password that opens the broker', async () => {
    const partner = uniqueName('acme');
    const plan = await onboard(partner, '', ['--plan']);
    expect(plan.code).toBe(0);
    expect(plan.stdout).toContain(`  + topic   orders.${partner}.request.v1 (1 partitions, 1 copy, `);
    expect(plan.stdout).toContain(`  + user    ${partner}.1 (scram-sha-512)\n`);
    expect(plan.stdout).toContain(`  + acl     User:${partner}.1 may Read topic orders.${partner}.request.v1\n`);
    const id = /\(plan ([0-9a-f]{16})\)$/m.exec(plan.stdout)?.[1] ?? '';
    expect(plan.output).toContain(`--apply --plan-id ${id}`);
    const other = await onboard(partner, 'name: Other\n', ['--apply', '--plan-id', id]);
    expect(other).toMatchObject({ code: 4, stdout: '' });
    const applied = await onboard(partner, '', ['--apply', '--plan-id', id, '--json']);
    expect(applied.code).toBe(0);
    const { account } = JSON.parse(applied.stdout) as { account: { username: string; password: string } };
    expect(account.username).toBe(`${partner}.1`);
    expect(await readAll(`orders.${partner}.request.v1`, doorOf(kafka, account))).toEqual([]);
    const again = await onboard(partner, '', ['--apply']);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to do') as string });
    const shown = await onboard(partner, 'name: Other\n', ['--plan']);
    expect(shown.stdout).toContain(`  ~ partner ${partner} name ${partner} → Other\n`);
  });

  it('does nothing where nobody can be asked and nobody has agreed', async () => {
    const partner = uniqueName('acme');
    const unasked = await onboard(partner, '', []);
    expect(unasked).toMatchObject({ code: 2, stdout: '' });
    expect(unasked.output).toContain(`+ partner ${partner}`);
    expect(unasked.output).toContain('say --yes');
  });

  it('holds against the short form, whose defaults are no word against a file', async () => {
    const partner = uniqueName('acme');
    const lines = `name: Acme Ltd\nquotas: { producerBytesPerSecond: 1000 }\nauthentication: { type: tls, subject: CN=${partner} }\n`;
    expect(await onboard(partner, lines, ['--yes'])).toMatchObject({ code: 0 });
    const added = await run(['add', partner]);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to do') as string });
    const other = await run(['add', partner, '--partitions', '2']);
    expect(other.code).toBe(1);
    expect(other.output).toContain('has 1 partitions');
  });

  it('names all that is wrong with a file, and the account that it lacks', async () => {
    const partner = uniqueName('acme');
    const wrong = await onboard(partner, 'retention: 3\ncredentialDays: 0\n', ['--plan']);
    expect(wrong.code).toBe(1);
    expect(wrong.output).toContain('/retention is not a member that exists here');
    expect(wrong.output).toContain('/credentialDays must be >= 1');
    const nobody = { KAFKA_ADMIN_USERNAME: '', KAFKA_ADMIN_PASSWORD: '' };
    const lacking = await onboard(partner, '', ['--plan'], nobody);
    expect(lacking.code).toBe(1);
    expect(lacking.output).toContain('Set KAFKA_ADMIN_USERNAME and KAFKA_ADMIN_PASSWORD');
  });

  it('prints resources for others to apply, and then knows of what they made, without the administrator', async () => {
    const partner = uniqueName('acme');
    const nobody = { KAFKA_ADMIN_USERNAME: '', KAFKA_ADMIN_PASSWORD: '' };
    const emitted = await onboard(partner, '', ['--emit', 'strimzi', '--cluster', 'prod'], nobody);
    expect(emitted.code).toBe(0);
    const resources = loadAll(emitted.stdout) as { kind: string; metadata: { name: string } }[];
    const topics = resources.filter(({ kind }) => kind === 'KafkaTopic').map(({ metadata }) => metadata.name);
    expect(topics).toContain(`orders.${partner}.response.v1-dlt`);
    const early = await onboard(partner, '', ['--emit', 'strimzi', '--apply'], nobody);
    expect(early.code).toBe(1);
    expect(early.output).toContain('is not there yet, and is made elsewhere');
    const administrator = doorOf(kafka, kafka.admin);
    for (const topic of topics) await createTopic(topic, { exact: true, brokers: administrator });
    // Parley may look at them: its rights come with the same resources.
    const asAdmin = { KAFKA_SASL_USERNAME: kafka.admin.username, KAFKA_SASL_PASSWORD: kafka.admin.password };
    const known = await onboard(partner, '', ['--emit', 'strimzi', '--apply', '--json'], { ...nobody, ...asAdmin });
    expect(known).toMatchObject({ code: 0 });
    const { changes, account } = JSON.parse(known.stdout) as { changes: { op: string; kind: string }[]; account: null };
    expect(account).toBeNull();
    expect(changes.filter(({ kind }) => ['topic', 'acl', 'quota'].includes(kind))).toEqual([]);
    expect(changes).toContainEqual(expect.objectContaining({ op: '=', kind: 'user', name: `${partner}.1` }));
  });
});
