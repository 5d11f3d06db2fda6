import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type SecureKafka, startKafka } from '../../scripts/servers/index.mjs';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { asAdministrator, asParley, type GuardedKafka } from '../support/guarded-kafka';
import { produce, readAll, uniqueName } from '../support/kafka';
import { runTool } from '../support/kafka-tools';
import { ROOT, unpack } from '../support/kit';
import { Program } from '../support/parley-process';
import { unzip } from '../support/unzip';

const partner = uniqueName('acme');
const folder = mkdtempSync(join(tmpdir(), 'parley-kit-certificate-'));
const kit = join(folder, `${partner}-kit`);
const [request, response] = [`orders.${partner}.request.v1`, `orders.${partner}.response.v1`];
const readme = () => readFileSync(join(kit, 'README.md'), 'utf8');
let kafka: SecureKafka & GuardedKafka;
let said: string;

beforeAll(async () => {
  const parley = { username: 'parley', password: uniqueName('secret') };
  const options = { secure: true, open: true, mtls: true, accounts: [parley] } as const;
  kafka = Object.assign(await startKafka(options), { parley });
  const environment = {
    ...{ DATABASE_URL: await freshDatabase(), KAFKA_CONSUMER_GROUP: uniqueName('parley') },
    ...asParley(kafka),
    ...asAdministrator(kafka),
  };
  const run = async (...args: string[]) => {
    const program = Program.run('cli/main.js', ['partner', ...args], environment);
    if ((await program.finished()) !== 0) throw new Error(program.output);
    return program.output;
  };
  const file = join(folder, 'acme.yaml');
  const spec = `partner: ${partner}\nname: Acme Ltd\nformat: json\npartitions: 1\n`;
  writeFileSync(file, `${spec}authentication:\n  type: tls\n  subject: ${partner}\n`);
  await run('onboard', partner, '--file', file, '--apply');
  const zip = join(folder, 'acme-kit.zip');
  said = await run('kit', partner, '-o', zip, '--bootstrap', kafka.mtlsBrokers ?? '');
  unpack(unzip(readFileSync(zip)), folder);
  for (const name of ['kafkajs', '@platformatic/kafka']) {
    mkdirSync(dirname(join(kit, 'node_modules', name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(kit, 'node_modules', name), 'junction');
  }
  await certify('partner', partner);
}, 300_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await kafka?.stop();
});

/** Leaves a certificate of this name and its key in the kit, as its page asks for them. */
async function certify(stem: string, name: string, expired = false): Promise<void> {
  const files = await kafka.issueClient?.(name, { expired });
  const [cert, key] = [files?.certFile, files?.keyFile].map((path) => readFileSync(path ?? '', 'utf8'));
  writeFileSync(join(kit, `${stem}.pem`), cert ?? '');
  writeFileSync(join(kit, `${stem}.key`), key ?? '');
  writeFileSync(join(kit, `${stem}.keystore.pem`), `${key}${cert}`);
}

const order = async (): Promise<string> => {
  const key = uniqueName('order');
  const headers = { ce_type: 'parley.order-request.v1' };
  await produce(request, [{ key, value: 'an order', headers }], kafka.openBrokers);
  return key;
};

/** Runs a client of the kit until it says this. */
async function expectOf(name: string, env: NodeJS.ProcessEnv, words: string): Promise<void> {
  const client = Program.script(join(kit, 'clients', 'node', name), [], { env, cwd: kit });
  try {
    await eventually(() => client.output.includes(words), { timeout: 90_000, what: words });
  } finally {
    await client.end('SIGINT');
  }
}

const WRITERS = [
  [
    'kafkajs.mjs',
    "const producer = makeProducer(); await producer.connect(); await send(producer, topic, { key, value: 'x' }); await producer.disconnect();",
  ],
  [
    'platformatic.mjs',
    "const producer = makeProducer(); await producer.send({ messages: [{ topic, key: Buffer.from(key), value: Buffer.from('x') }] }); await producer.close();",
  ],
] as const;

describe('the kit of a partner who comes in by certificate', () => {
  it('is one for a certificate, and the operator is told whose', () => {
    expect(said).toContain(`files for ${partner}, whose clients come in as ${partner}\n`);
    expect(said).not.toContain('password');
    expect(readme()).toContain(`\`${partner}\`, as our broker reads it in your certificate`);
  });

  it.each(WRITERS)('lets a client with %s read and write', async (name, script) => {
    const key = await order();
    await expectOf(name, {}, `${key} parley.order-request.v1 8 bytes`);
    const source = `import * as kit from './clients/node/${name}'; const { makeProducer, send } = kit; const [topic, key] = ${JSON.stringify([response, key])}; ${script}`;
    writeFileSync(join(kit, `write-${name}`), source);
    const writer = Program.script(join(kit, `write-${name}`), [], { env: {}, cwd: kit });
    expect([await writer.finished(), writer.output]).toEqual([0, expect.anything()]);
    expect((await readAll(response, kafka.openBrokers)).map((record) => String(record.key))).toContain(key);
  });

  it.each(['kafkajs.mjs', 'platformatic.mjs'])(
    'lets a client with %s come in by password where an account is named, as in the sandbox',
    async (name) => {
      const key = await order();
      const { username, password } = kafka.admin;
      const sandbox = { PARTNER_BROKERS: kafka.brokers, PARTNER_USERNAME: username, PARTNER_PASSWORD: password };
      await expectOf(name, { ...sandbox, PARTNER_CA: kafka.caFile }, `${key} parley.order-request.v1 8 bytes`);
    },
  );

  it('lets the Java client read', async () => {
    await order();
    const settings = ['client', 'consumer'].map((part) => readFileSync(join(kit, `clients/java/${part}.properties`)));
    writeFileSync(join(kit, 'reading.properties'), settings.join('\n'));
    const reach = ['--bootstrap-server', kafka.mtlsBrokers ?? '', '--command-config', 'reading.properties'];
    const some = ['--topic', request, '--max-messages', '1', '--timeout-ms', '90000'];
    const read = await runTool('consumer.ConsoleConsumer', [...reach, ...some], { cwd: kit, env: {} });
    expect([read.code, read.stdout]).toEqual([0, 'an order\n']);
  }, 120_000);

  it("says why it doesn't come in, in the words that the kit explains", async () => {
    await certify('ended', partner, true);
    const ended = { PARTNER_CERT: 'ended.pem', PARTNER_KEY: 'ended.key' };
    await expectOf('kafkajs.mjs', ended, 'alert certificate unknown');
    expect(readme()).toContain('"alert certificate unknown"');
    await certify('other', 'somebody-else');
    const other = { PARTNER_CERT: 'other.pem', PARTNER_KEY: 'other.key' };
    await expectOf('kafkajs.mjs', other, 'Not authorized to access topics');
    expect(readme()).toContain('every topic is refused');
  });
});
