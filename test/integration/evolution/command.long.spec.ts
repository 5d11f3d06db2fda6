import { Client } from 'pg';
import { orderRequest, orderResponse, subjectFor, topicFor, typeOf } from '../../../src/contracts';
import { freshDatabase } from '../../support/database';
import { uniqueName } from '../../support/kafka';
import { Program } from '../../support/parley-process';
import { registerSchema, testRegistry } from '../../support/registry';
import { behind } from './harness';

let registry: string;
let database: string;

beforeAll(async () => {
  [registry, database] = await Promise.all([testRegistry(), freshDatabase()]);
});

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** With a database when `partners` were added to it; else only the registry is known. */
async function contracts(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const run: Run = { code: null, stdout: '', stderr: '' };
  const program = Program.run('cli/main.js', ['contracts', ...args], { SCHEMA_REGISTRY_URLS: registry, ...env });
  program.child.stdout?.on('data', (text: string) => (run.stdout += text));
  program.child.stderr?.on('data', (text: string) => (run.stderr += text));
  run.code = await program.finished();
  return run;
}

const stored = (): NodeJS.ProcessEnv => ({ DATABASE_URL: database, KAFKA_BROKERS: '127.0.0.1:1' });
const planned = (partner: string, format = 'avro') => ['--partner', partner, '--format', format];
const requests = (partner: string) => subjectFor(orderRequest, topicFor(orderRequest, partner));
const responses = (partner: string) => subjectFor(orderResponse, topicFor(orderResponse, partner));
const BROKEN = JSON.stringify({
  type: 'record',
  name: 'OrderRequest',
  namespace: 'parley.v1',
  fields: [{ name: 'orderNumber', type: 'int' }],
});

/** A partner as onboarding stores it, and what its records named. */
async function addPartner(partner: string, format: string, schemaIds: readonly number[] = []): Promise<void> {
  const sql = new Client({ connectionString: database });
  await sql.connect();
  try {
    await sql.query(`INSERT INTO partner (id, name, created_at) VALUES ($1, $1, now())`, [partner]);
    for (const contract of [orderRequest, orderResponse])
      await sql.query(
        `INSERT INTO channel (partner, topic, direction, format, partitions, max_message_bytes, allow_missing_id, created_at)
         VALUES ($1, $2, $3, $4, 1, 1048588, false, now())`,
        [partner, topicFor(contract, partner), contract.direction, format],
      );
    for (const id of schemaIds)
      await sql.query(
        `INSERT INTO channel_schema (channel_id, type, schema_id, first_seen_at, last_seen_at) SELECT id, $2, $3, now(), now() FROM channel WHERE topic = $1`,
        [topicFor(orderResponse, partner), typeOf(orderResponse), id],
      );
  } finally {
    await sql.end();
  }
}

async function rowsOf(statement: string): Promise<unknown[]> {
  const sql = new Client({ connectionString: database });
  await sql.connect();
  try {
    return (await sql.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await sql.end();
  }
}

describe('parley contracts', () => {
  it('works on topics as they would be, without a database', async () => {
    const partner = uniqueName('acme');
    const before = await contracts(['check', ...planned(partner)]);
    expect(before).toMatchObject({ code: 0, stdout: 'no break: 6 schemas compared with 0 registered versions\n' });
    expect(before.stderr).toContain(`${requests(partner)}: not published yet`);
    expect((await contracts(['check', '--published', ...planned(partner)])).code).toBe(1);
    const plan = await contracts(['publish', '--plan', ...planned(partner)]);
    expect(plan).toMatchObject({ code: 0, stderr: '' });
    expect(plan.stdout).toMatch(/6 would be registered\.\n$/);
    expect((await contracts(['publish', '--dry-run', ...planned(partner)])).stdout).toBe(plan.stdout);
    const asked = await contracts(['publish', ...planned(partner)]);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    expect(asked.stderr).toContain('say --yes');
    const published = await contracts(['publish', '--yes', ...planned(partner)]);
    expect(published.code).toBe(0);
    // The plan first, apart from the result.
    expect(published.stderr).toContain(`new          ${requests(partner)} (avro)`);
    expect(published.stdout).toContain(`${requests(partner)}: registered as version 1, id `);
    const again = await contracts(['publish', '--json', ...planned(partner)]);
    expect(again.code).toBe(0);
    expect((JSON.parse(again.stdout) as { result: string }[]).map(({ result }) => result)).toEqual(
      Array(6).fill('unchanged'),
    );
    expect(await contracts(['check', '--published', ...planned(partner)])).toMatchObject({ code: 0, stderr: '' });
    expect((await contracts(['diff', ...planned(partner)])).stdout).toBe('Nothing differs from what is published.\n');
  });

  it('names partner, subject, version, member and rule of a break, and registers nothing beside it', async () => {
    const [partner, other] = [uniqueName('acme'), uniqueName('globex')];
    const scope = [...planned(partner), '--partner', other];
    await registerSchema(registry, requests(partner), { schema: BROKEN });
    const check = await contracts(['check', ...scope]);
    expect(check.code).toBe(1);
    expect(check.stdout).toContain(`${partner} ${requests(partner)} version 1: orderNumber: type-changed: `);
    expect(check.stdout).toContain(`${partner} ${requests(partner)} version 1: lines: field-added-required: `);
    const json = await contracts(['check', '--json', ...scope]);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toContainEqual(
      expect.objectContaining({
        ...{ partner, contract: 'order-request', format: 'avro', subject: requests(partner), published: null },
        breaks: expect.arrayContaining([
          expect.objectContaining({ version: 1, place: 'orderNumber', rule: 'type-changed' }),
        ]) as unknown,
      }),
    );
    const publish = await contracts(['publish', '--yes', ...scope]);
    expect(publish).toMatchObject({ code: 1, stdout: '' });
    expect(publish.stderr).toContain('orderNumber: type-changed');
    expect(publish.stderr).toContain('nothing is registered');
    for (const subject of [requests(other), responses(partner)])
      expect((await fetch(`${registry}/subjects/${encodeURIComponent(subject)}/versions`)).status).toBe(404);
  });

  it('shows what a stranger named as text, and no line that he made up', async () => {
    const partner = uniqueName('acme');
    const members = '{"\\u001b[2J\\nno break: 6 schemas":{"type":"string"}}';
    const schema = `{"$schema":"x","type":"object","required":["\\u001b[2J\\nno break: 6 schemas"],"properties":${members}}`;
    await registerSchema(registry, requests(partner), { schema, schemaType: 'JSON' });
    const check = await contracts(['check', ...planned(partner, 'json-schema')]);
    expect(check.code).toBe(1);
    expect(check.stdout).toContain(String.raw`\u{1b}[2J\u{a}no break: 6 schemas: field-removed-required`);
    expect(check.stdout).not.toContain('\x1b');
    expect(check.stdout).not.toMatch(/^no break/m);
  });

  it('takes partners, formats and what their records named from the database', async () => {
    const [acme, globex, initech] = [uniqueName('acme'), uniqueName('globex'), uniqueName('initech')];
    await addPartner(acme, 'avro', [2_000_000_000]);
    await addPartner(globex, 'protobuf');
    await addPartner(initech, 'json');
    const check = await contracts(['check', '--json'], stored());
    expect(check.code).toBe(1);
    const found = JSON.parse(check.stdout) as { partner: string; format: string; breaks: { rule: string }[] }[];
    expect(found.map(({ partner, format }) => [partner, format])).toEqual(
      expect.arrayContaining([
        [acme, 'avro'],
        [globex, 'protobuf'],
      ]) as unknown,
    );
    expect(found.some(({ partner }) => partner === initech)).toBe(false);
    expect(found.flatMap(({ partner, breaks }) => breaks.map(({ rule }) => [partner, rule]))).toEqual([
      [acme, 'id-unregistered'],
    ]);
    const one = await contracts(['publish', '--yes', '--partner', globex], stored());
    expect(one.code).toBe(0);
    expect(one.stdout.match(/registered as version 1/g)).toHaveLength(4);
    expect((await contracts(['publish', '--yes', '--partner', globex], stored())).code).toBe(0);
    // What changed nothing leaves none.
    const audited = await rowsOf(
      `SELECT object, role, detail->'subjects' AS subjects FROM audit_entry WHERE action = 'contracts.publish'`,
    );
    expect(audited).toEqual([
      { object: 'contracts', role: 'admin', subjects: expect.arrayContaining([requests(globex)]) as unknown },
    ]);
    const unknown = await contracts(['check', '--partner', 'nobody'], stored());
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toMatch(/^parley: There is no partner nobody\./);
    const plain = await contracts(['check', '--partner', initech], stored());
    expect(plain).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing to compare') as unknown });
  });

  it.each([
    ['a format without partners', ['check', '--format', 'avro']],
    ['a format that has no registry', ['check', '--partner', 'acme', '--format', 'json']],
  ])('ends with 2 for %s', async (_, args) => {
    const run = await contracts(args);
    expect(run.code).toBe(2);
    expect(run.stderr).not.toBe('');
  });

  it('ends with 1 and says what to look at where the registry is away or not named', async () => {
    const away = await contracts(['check', ...planned('acme')], { SCHEMA_REGISTRY_URLS: 'http://127.0.0.1:1' });
    expect(away).toMatchObject({ code: 1, stdout: '' });
    expect(away.stderr).toMatch(
      /^parley: The schema registry can't be reached.*\nCause: .*\nCheck SCHEMA_REGISTRY_URLS/,
    );
    const unnamed = await contracts(['publish', ...planned('acme')], { SCHEMA_REGISTRY_URLS: '' });
    expect(unnamed).toMatchObject({ code: 1, stdout: '' });
    expect(unnamed.stderr).toContain('Set SCHEMA_REGISTRY_URLS.');
  });
});

describe('publishing that meets trouble', () => {
  it('ends with 3 when some were registered, and is simply run again', async () => {
    const partner = uniqueName('acme');
    const path = `/subjects/${encodeURIComponent(responses(partner))}/versions`;
    const seen: string[] = [];
    const proxy = await behind(registry, async ({ method, url }) => {
      seen.push(`${method} ${url}`);
      return method === 'POST' && url === path ? 422 : undefined;
    });
    try {
      const run = await contracts(['publish', '--yes', ...planned(partner)], { SCHEMA_REGISTRY_URLS: proxy.url });
      expect(run.code).toBe(3);
      expect(run.stdout).toMatch(/OrderResponse: failed: .*refused by the test/);
      expect(run.stdout.match(/registered as version 1/g)).toHaveLength(5);
      // The level first: the registry judges what comes, too.
      const changes = seen.filter(
        (line) => line.includes(encodeURIComponent(responses(partner))) && /^(PUT|POST .*\/versions$)/.test(line),
      );
      expect(changes).toEqual([`PUT /config/${encodeURIComponent(responses(partner))}`, `POST ${path}`]);
    } finally {
      proxy.close();
    }
    const again = await contracts(['publish', '--yes', ...planned(partner)]);
    expect(again.code).toBe(0);
    expect(again.stdout.match(/registered as version 1/g)).toHaveLength(1);
    expect(again.stdout.match(/unchanged/g)).toHaveLength(5);
  });

  it('ends with 4 when somebody registered after the plan was made', async () => {
    const partner = uniqueName('acme');
    const listing = `/subjects/${encodeURIComponent(requests(partner))}/versions?deleted=true`;
    let listed = 0;
    const proxy = await behind(registry, async ({ method, url }) => {
      if (method === 'GET' && url === listing && ++listed === 2)
        await registerSchema(registry, requests(partner), { schema: BROKEN });
      return undefined;
    });
    try {
      const run = await contracts(['publish', '--yes', ...planned(partner)], { SCHEMA_REGISTRY_URLS: proxy.url });
      expect(run.code).toBe(4);
      expect(run.stdout).toContain(`${requests(partner)}: plan changed: `);
    } finally {
      proxy.close();
    }
  });
});
