import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type RegistryServer, startRegistry } from '../../scripts/servers/index.mjs';
import { eventually } from '../support/eventually';
import { JAVA_FLAGS, kafkaTools } from '../support/kafka-tools';
import { kitFor, unpack } from '../support/kit';
import { Program } from '../support/parley-process';

// What compose runs in containers runs here as it stands, but for the folders and ports that containers have of their own.

const folder = mkdtempSync(join(tmpdir(), 'parley-sandbox-'));
const at = (...parts: string[]) => join(folder, ...parts);
const passwords = { PARTNER_PASSWORD: 'partner-here', COMPANY_PASSWORD: 'company-here' };
const inside = { ADMIN_PASSWORD: 'company-here', PARLEY_PASSWORD: 'company-here', KEYSTORE_PASSWORD: 'company-here' };
const MAINS = {
  'kafka-topics': 'org.apache.kafka.tools.TopicCommand',
  'kafka-acls': 'org.apache.kafka.tools.AclCommand',
  'kafka-configs': 'org.apache.kafka.tools.ConfigCommand',
  'kafka-broker-api-versions': 'org.apache.kafka.tools.BrokerApiVersionsCommand',
  'kafka-storage': 'kafka.tools.StorageTool',
  'kafka-server-start': 'kafka.Kafka',
};
let broker: ChildProcess;
let registry: RegistryServer;
let brokers: string;

beforeAll(async () => {
  unpack(await kitFor('acme', 'avro'), at('kit'));
  const [port, controller, internal] = [await freePort(), await freePort(), await freePort()];
  brokers = `localhost:${port}`;
  const own: readonly (readonly [string, string])[] = [
    ['/opt/kafka/bin', at('bin')],
    ['/opt/parley', at('kit', 'sandbox', 'broker')],
    ['/etc/kafka/secrets', at('secrets')],
    ['/mnt/shared/config', at('authority')],
    ['/var/lib/kafka/data', at('data')],
    ...[9092, 9093, 9094].map((name, index) => [`:${name}`, `:${[port, controller, internal][index]}`] as const),
  ];
  for (const name of ['bin', 'secrets', 'authority']) mkdirSync(at(name));
  for (const name of ['certificates.sh', 'client.properties', 'server.properties', 'start.sh', '../setup.sh']) {
    const file = at('kit', 'sandbox', 'broker', name);
    writeFileSync(
      file,
      own.reduce((text, [from, to]) => text.replaceAll(from, to), readFileSync(file, 'utf8')),
    );
  }
  const { java, classPath } = await kafkaTools();
  for (const [name, main] of Object.entries(MAINS)) {
    writeFileSync(
      at('bin', `${name}.sh`),
      `#!/bin/sh\nexec '${java}' ${[...JAVA_FLAGS, ...(main === 'kafka.Kafka' ? ['-Xmx512m'] : [])].join(' ')} -cp '${classPath}' ${main} "$@"\n`,
    );
    chmodSync(at('bin', `${name}.sh`), 0o755);
  }
  run('bash', [at('kit/sandbox/broker/certificates.sh')]);
  const log = openSync(at('broker.log'), 'w');
  broker = spawn(
    'bash',
    [
      at('kit/sandbox/broker/start.sh'),
      '--override',
      `advertised.listeners=PARTNER://${brokers},INTERNAL://localhost:${internal}`,
    ],
    { env: { PATH: process.env['PATH'], ...inside }, stdio: ['ignore', log, log] },
  );
  process.once('exit', () => broker.kill('SIGKILL'));
  registry = await startRegistry();
  const healthy = ['--bootstrap-server', brokers, '--command-config', at('kit/sandbox/broker/client.properties')];
  await eventually(
    () => {
      const check = spawnSync(at('bin/kafka-broker-api-versions.sh'), healthy, { env: { ...process.env, ...inside } });
      if (check.status !== 0)
        throw new Error(`${String(check.stderr)}\n${readFileSync(at('broker.log'), 'utf8').slice(-2_000)}`);
      return true;
    },
    { timeout: 240_000, interval: 500, what: 'the broker is healthy by the check of compose' },
  );
  run('bash', [at('kit/sandbox/setup.sh')]);
}, 480_000);
afterAll(async () => {
  if (broker?.kill('SIGKILL')) await once(broker, 'exit');
  await registry?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function run(command: string, args: string[]): string {
  const env = { PATH: process.env['PATH'], ...inside, ...passwords, SANDBOX_BROKER: brokers };
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env, cwd: at('kit') });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${status}\n${stdout}\n${stderr}`);
  return stdout;
}

describe("the sandbox of a partner's kit", () => {
  it('has schemas with the ids that the fixtures have', () => {
    const env = { PATH: process.env['PATH'], REGISTRY_URL: registry.url };
    const { stdout, stderr } = spawnSync(process.execPath, [at('kit/sandbox/register-schemas.mjs')], {
      env,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.slice(line.indexOf(':'))),
    ).toEqual([1, 2, 3, 4, 5, 6, 7].map((id) => `: schema ${id}`));
  });

  it('keeps no password in clear where the broker is set up', () => {
    expect(existsSync(at('authority/ca.pem'))).toBe(true);
    expect(readFileSync(at('kit/sandbox/compose.yaml'), 'utf8')).not.toMatch(/PASSWORD: [a-z]/);
  });

  it('lets a partner be certified in it, by the account that it has, and refuses what ours refuses', async () => {
    const reach = ['--brokers', brokers, '--ca', at('authority/ca.pem'), '--registry', registry.url];
    const theirs = Program.run(
      'simulator/main.js',
      ['partner', ...reach, '--partner', 'acme=avro', '--username', 'acme.1'],
      passwords,
    );
    await eventually(() => theirs.output.includes('ready: plays'), { timeout: 90_000, what: 'the partner plays' });
    const certify = Program.run(
      'simulator/main.js',
      [
        'certify',
        'acme',
        ...reach,
        '--format',
        'avro',
        '--username',
        'parley',
        '--partner-username',
        'acme.1',
        '--burst',
        '6',
        '--settle-ms',
        '300',
        // However busy the machine is: all is answered.
        '--within-ms',
        '60000',
        '--json',
      ],
      passwords,
    );
    const code = await certify.finished();
    await theirs.end('SIGTERM');
    const report = JSON.parse(certify.stdout.trim().split('\n').at(-1) ?? '{}') as {
      results: { name: string; verdict: string; seen: unknown }[];
    };
    expect(report.results.filter(({ verdict }) => verdict === 'failed')).toEqual([]);
    const skipped = report.results.filter(({ verdict }) => verdict === 'skipped').map(({ name }) => name);
    expect(skipped).toEqual(['broker-restart']);
    expect(report.results.find(({ name }) => name === 'acl')).toMatchObject({ verdict: 'passed' });
    expect(code).toBe(0);
  }, 240_000);
});
