import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Account } from '../../scripts/servers/index.mjs';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { asAdministrator, asParley, doorOf, guardedKafka } from '../support/guarded-kafka';
import { produce, readAll, uniqueName, unreadBy } from '../support/kafka';
import { runTool } from '../support/kafka-tools';
import { ROOT, unpack } from '../support/kit';
import { Program } from '../support/parley-process';
import { unzip } from '../support/unzip';

const kafka = guardedKafka();
const partner = uniqueName('acme');
const folder = mkdtempSync(join(tmpdir(), 'parley-kit-'));
const kit = join(folder, `${partner}-kit`);
let environment: NodeJS.ProcessEnv;
let account: Account;
let files: Map<string, Buffer>;
let said: string;

async function parley(...args: string[]) {
  const program = Program.run('cli/main.js', args, environment);
  return { code: await program.finished(), stdout: program.stdout, output: program.output };
}

beforeAll(async () => {
  environment = {
    ...{ DATABASE_URL: await freshDatabase(), KAFKA_CONSUMER_GROUP: uniqueName('parley') },
    ...asParley(kafka),
    ...asAdministrator(kafka),
  };
  const file = join(folder, 'acme.yaml');
  writeFileSync(file, `partner: ${partner}\nname: Acme Ltd\nformat: json\npartitions: 2\n`);
  const onboarded = await parley('partner', 'onboard', partner, '--file', file, '--apply', '--json');
  account = (JSON.parse(onboarded.stdout) as { account: Account }).account;
  const zip = join(folder, 'acme-kit.zip');
  const made = await parley('partner', 'kit', partner, '-o', zip, '--bootstrap', kafka.brokers);
  said = made.output;
  if (made.code !== 0) throw new Error(said);
  const unpacked = unzip(readFileSync(zip));
  unpack(unpacked, folder);
  files = new Map([...unpacked].map(([name, content]) => [name.replace(`${partner}-kit/`, ''), content]));
  install(files);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As `npm install ./parley-partner-….tgz` leaves it, without asking the registry: the packages that it names are linked. */
function install(unpacked: ReadonlyMap<string, Buffer>): void {
  const archive = [...unpacked.keys()].find((name) => name.endsWith('.tgz')) ?? '';
  const modules = join(kit, 'node_modules');
  mkdirSync(modules);
  expect(spawnSync('tar', ['-xzf', join(kit, archive), '-C', modules]).status).toBe(0);
  const { dependencies } = JSON.parse(readFileSync(join(modules, 'package', 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), 'kafkajs']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'junction');
  }
}

const asPartner = () => ({ PARTNER_PASSWORD: account.password });
const programs = (args: readonly string[], env: NodeJS.ProcessEnv) =>
  Program.script(join(kit, 'node_modules', 'package', 'bin', 'parley-partner.cjs'), args, { env, cwd: kit });
const client = (name: string, env: NodeJS.ProcessEnv) =>
  Program.script(join(kit, 'clients', 'node', name), [], { env, cwd: kit });
/** Without what turns colours on. */
const inKit = (env: NodeJS.ProcessEnv) => ({ cwd: kit, env });

describe('parley partner kit', () => {
  it('writes a kit for the account that new clients get, and says what is a placeholder', async () => {
    expect(said).toContain(`${files.size} files for ${partner}, whose clients come in as ${partner}.1`);
    expect(said).not.toContain('placeholder');
    expect(String(files.get('README.md'))).toContain(`| brokers               | \`${kafka.brokers}\``);
    const other = await parley('partner', 'kit', partner, '-o', join(folder, 'other.zip'));
    expect(other.output).toContain('Without --bootstrap a placeholder stands where the brokers are named.');
    const again = await parley(
      'partner',
      'kit',
      partner,
      '-o',
      join(folder, 'again.zip'),
      '--bootstrap',
      kafka.brokers,
    );
    expect(again.code).toBe(0);
    const [first, second] = ['acme-kit.zip', 'again.zip'].map((name) => readFileSync(join(folder, name)));
    expect(second?.equals(first ?? Buffer.alloc(0))).toBe(true);
    const nobody = await parley('partner', 'kit', 'nobody', '-o', join(folder, 'nobody.zip'));
    expect([nobody.code, nobody.output]).toEqual([1, expect.stringContaining('There is no partner nobody.')]);
    expect(readdirSync(folder)).not.toContain('nobody.zip');
  }, 180_000);

  it('has no secret of anybody in any of its bytes', () => {
    const secrets = [account.password, kafka.parley.password, kafka.admin.password, environment['DATABASE_URL'] ?? ''];
    const bytes = [...files].map(
      ([name, content]) => [name, name.endsWith('.tgz') ? gunzipSync(content) : content] as const,
    );
    for (const [name, content] of bytes) {
      for (const secret of [...secrets, 'PRIVATE KEY'])
        expect([name, content.includes(secret), content.includes(Buffer.from(secret).toString('base64'))]).toEqual([
          name,
          false,
          false,
        ]);
      expect([name, /^\s*(sasl\.)?password\s*[=:]/im.test(name.endsWith('.tgz') ? '' : String(content))]).toEqual([
        name,
        false,
      ]);
    }
    expect(files.get('ca.pem')).toEqual(readFileSync(kafka.caFile));
  });
});

describe('the settings of clients in a kit', () => {
  const request = () => `orders.${partner}.request.v1`;
  const response = () => `orders.${partner}.response.v1`;
  const order = (key: string) =>
    produce(
      request(),
      [{ key, value: 'an order', headers: { ce_type: 'parley.order-request.v1' } }],
      doorOf(kafka, kafka.parley),
    );
  const settings = (side: string) =>
    ['client', side].map((part) => String(files.get(`clients/java/${part}.properties`))).join('\n');
  const written = async () => (await readAll(response(), doorOf(kafka, kafka.admin))).map(({ key }) => String(key));

  it.each(['kafkajs.mjs', 'platformatic.mjs'])(
    'let a client with %s read orders, behind its own commits',
    async (name) => {
      const key = uniqueName('order');
      await order(key);
      const shows = (reader: Program, of: string) => reader.output.includes(`${of} parley.order-request.v1 8 bytes`);
      const first = client(name, asPartner());
      const [group, door] = [`partner.${partner}.app`, doorOf(kafka, kafka.admin)];
      const later = `${key}-later`;
      try {
        // What is shown is committed a moment afterwards, and partitions come in any order.
        await eventually(() => shows(first, key), { what: key });
        await eventually(async () => (await unreadBy(group, request(), 2, door)) === 0, {
          what: 'all is committed',
        });
      } finally {
        await first.end('SIGINT');
      }
      await order(later);
      const second = client(name, asPartner());
      try {
        await eventually(() => shows(second, later), { what: later });
        expect([shows(first, later), shows(second, key)]).toEqual([false, false]);
      } finally {
        await second.end('SIGINT');
      }
    },
    120_000,
  );

  it.each([
    [
      'kafkajs.mjs',
      "const producer = makeProducer(); await producer.connect(); await send(producer, topic, { key, value: 'x' }); await producer.disconnect();",
    ],
    [
      'platformatic.mjs',
      "const producer = makeProducer(); await producer.send({ messages: [{ topic, key: Buffer.from(key), value: Buffer.from('x') }] }); await producer.close();",
    ],
  ])('let a client with %s write answers', async (name, script) => {
    const key = uniqueName('answer');
    const source = `import * as kit from './clients/node/${name}'; const { makeProducer, send } = kit; const [topic, key] = ${JSON.stringify([response(), key])}; ${script}`;
    writeFileSync(join(kit, `write-${name}`), source);
    const writer = Program.script(join(kit, `write-${name}`), [], inKit(asPartner()));
    expect([await writer.finished(), writer.output]).toEqual([0, expect.anything()]);
    expect(await written()).toContain(key);
  });

  it('let the Java client read and write', async () => {
    writeFileSync(join(kit, 'reading.properties'), settings('consumer'));
    writeFileSync(join(kit, 'writing.properties'), settings('producer'));
    const key = uniqueName('java');
    await order(key);
    const read = await runTool(
      'consumer.ConsoleConsumer',
      [
        '--bootstrap-server',
        kafka.brokers,
        '--topic',
        request(),
        '--max-messages',
        '1',
        '--timeout-ms',
        '90000',
        '--from-beginning',
        '--command-config',
        'reading.properties',
        '--formatter-property',
        'print.key=true',
      ],
      inKit(asPartner()),
    );
    expect([read.code, read.stdout]).toEqual([0, expect.stringContaining('\tan order')]);
    const wrote = await runTool(
      'ConsoleProducer',
      [
        '--bootstrap-server',
        kafka.brokers,
        '--topic',
        response(),
        '--command-config',
        'writing.properties',
        '--reader-property',
        'parse.key=true',
      ],
      { ...inKit(asPartner()), input: `${key}\tan answer\n` },
    );
    expect([wrote.code, wrote.stderr]).toEqual([0, expect.not.stringContaining('ERROR')]);
    expect(await written()).toContain(key);
  }, 300_000);

  it("say why they don't come in, in the words that the kit explains", async () => {
    const readme = String(files.get('README.md'));
    const wrong = client('kafkajs.mjs', { PARTNER_PASSWORD: 'wrong' });
    await eventually(() => wrong.output.includes('invalid credentials with SASL mechanism'), { timeout: 90_000 });
    await wrong.end('SIGKILL');
    expect(readme).toContain('invalid credentials with SASL mechanism');
    writeFileSync(
      join(kit, 'foreign.properties'),
      settings('consumer').replace('group.id=partner.', 'group.id=others.'),
    );
    const foreign = await runTool(
      'consumer.ConsoleConsumer',
      [
        '--bootstrap-server',
        kafka.brokers,
        '--topic',
        request(),
        '--timeout-ms',
        '60000',
        '--command-config',
        'foreign.properties',
      ],
      inKit(asPartner()),
    );
    expect(foreign.stderr + foreign.stdout).toContain('GroupAuthorizationException');
    expect(readme).toContain('GroupAuthorizationException');
  }, 300_000);
});

describe('the programs of a kit, unpacked elsewhere', () => {
  it('say what there is, and refuse what there is not', async () => {
    const help = programs(['--help'], {});
    expect([await help.finished(), help.output]).toEqual([
      0,
      expect.stringContaining('npx parley-partner simulate company acme'),
    ]);
    const unknown = programs(['simulate', 'nobody'], {});
    expect([await unknown.finished(), unknown.output]).toEqual([
      2,
      expect.stringContaining('There is no program "nobody".'),
    ]);
    const certify = programs(['certify', '--help'], {});
    expect([await certify.finished(), certify.output]).toEqual([0, expect.stringContaining('CERT-ACCEPT')]);
  });

  it('play both sides through a guarded broker: every order is answered', async () => {
    const reach = ['--brokers', kafka.brokers, '--ca', 'ca.pem'];
    const theirs = programs(
      ['simulate', 'partner', ...reach, '--partner', `${partner}=json`, '--username', account.username],
      asPartner(),
    );
    await eventually(() => theirs.output.includes('ready: plays'), { what: theirs.output });
    const ours = programs(
      [
        'simulate',
        'company',
        partner,
        ...reach,
        '--format',
        'json',
        '--orders',
        '3',
        '--rate',
        '0',
        '--username',
        kafka.parley.username,
      ],
      { COMPANY_PASSWORD: kafka.parley.password },
    );
    expect([await ours.finished(), ours.output]).toEqual([0, expect.stringContaining('3 requests: 3 settled')]);
    expect(await theirs.end('SIGTERM')).toBe(0);
  });
});
