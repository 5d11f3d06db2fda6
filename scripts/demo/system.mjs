import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freePort, ServerError, startKafka, startPostgres, startRegistry, temporaryFolder } from '../servers/index.mjs';
import { claimPort } from '../servers/ports.mjs';
import { endServer, startServer, tail } from '../servers/processes.mjs';
import { Access } from './access.mjs';
import { COMPANY } from './people/company.mjs';
import { People } from './people/index.mjs';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const built = (path) => join(ROOT, 'dist', 'src', path);

/**
 * Everything that the demo starts: PostgreSQL, Kafka, a schema registry, Parley (what sends notifications apart from the rest) and the
 * partners, each a process of its own; and whom notifications reach.
 */
export class System {
  folder = temporaryFolder('demo');
  access = new Access(this.folder);
  people = new People();
  journal = join(this.folder, 'partners.jsonl');
  /** Of each topic. */
  partitions = 6;

  /** @param partners id, name and format of each */
  constructor(partners) {
    this.partners = partners;
    this.requestTopics = partners.map(({ id }) => `orders.${id}.request.v1`);
  }

  /** All servers at once; what the others started is stopped when one fails. */
  async startServers(report) {
    const started = await Promise.allSettled([
      startPostgres({ durable: true }),
      startKafka({ report, secure: true, accounts: [this.access.parley] }),
      startRegistry({ report }),
      this.people.start(),
    ]);
    [this.postgres, this.kafka, this.registry] = started.map((result) => result.value);
    const failed = started.flatMap((result) => result.reason ?? []);
    // All that is missing at once; an error that nobody can mend goes first, as it is.
    if (failed.length > 0) {
      throw failed.find((error) => !(error instanceof ServerError)) ?? new ServerError(failed.map(String).join('\n'));
    }
    this.access.use(this.kafka);
    await this.postgres.createDatabase('parley');
    const api = await claimPort(3000, 'Parley').catch(freePort);
    const [management, notifier] = [await freePort(), await freePort()];
    this.apiUrl = `http://127.0.0.1:${api}`;
    this.managementUrl = `http://127.0.0.1:${management}`;
    this.notifierUrl = `http://127.0.0.1:${notifier}`;
    this.env = {
      DATABASE_URL: this.postgres.url('parley'),
      ...this.access.environment,
      SCHEMA_REGISTRY_URLS: this.registry.url,
      // The demo kills Parley: its partitions move after 6 s instead of 45.
      KAFKA_SESSION_TIMEOUT_MS: '6000',
      RELAY_LEASE_MS: '3000',
      ...this.people.env,
      HTTP_PORT: String(api),
      MANAGEMENT_PORT: String(management),
    };
  }

  /** `parley …`, the command line; returns its result. */
  async parley(...args) {
    return (await this.runParley(args)).stdout;
  }

  /** The same with more in its environment and with an input; `text` is what a terminal would show. Throws when it fails. */
  async runParley(args, { env = {}, input = '' } = {}) {
    requireBuild();
    const child = spawn(process.execPath, [built('cli/main.js'), ...args], { env: { ...this.childEnv(), ...env } });
    const shown = { stdout: '', stderr: '', text: '' };
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (text) => {
        shown[name] += text;
        shown.text += text;
      });
    }
    child.stdin.on('error', () => undefined).end(input);
    const [code] = await once(child, 'close');
    if (code !== 0)
      throw new ServerError(`"parley ${args.join(' ')}" failed (exit code ${code}).`, shown.stderr.trim());
    return { stdout: shown.stdout.trim(), text: shown.text.trim() };
  }

  startParley() {
    this.app = this.start('parley', [built('main.js')], { ROLES: 'api,relay,consumer' });
  }

  /** The process that sends notifications, and needs no broker. */
  startNotifier() {
    const env = { ROLES: 'notifier', MANAGEMENT_PORT: String(new URL(this.notifierUrl).port) };
    this.notifier = this.start('notifier', [built('main.js')], env);
  }

  /** Each with its topics, account, rights and schemas, by its file. */
  async addPartners() {
    for (const partner of this.partners) {
      const file = this.access.partnerFile(partner, this.partitions);
      const args = ['partner', 'onboard', partner.id, '--file', file, '--apply', '--json'];
      const { stdout } = await this.runParley(args, { env: this.access.administration });
      this.access.remember(partner.id, JSON.parse(stdout).account);
    }
  }

  /** The company's own systems, by the file that the documentation shows. */
  async addCompany() {
    const file = join(ROOT, 'docs', 'partners', 'company.yaml');
    const args = ['partner', 'onboard', COMPANY, '--file', file, '--apply', '--json'];
    const { stdout } = await this.runParley(args, { env: this.access.administration });
    this.access.rememberCompany(JSON.parse(stdout).account);
  }

  /** All that are registered: subject, version, id, text. */
  async schemas() {
    const ask = async (path) => (await fetch(`${this.registry.url}/subjects${path}`)).json();
    const subjects = await ask('');
    return Promise.all(subjects.map((subject) => ask(`/${subject}/versions/latest`)));
  }

  /** What may be told, as the program has it. */
  async kinds() {
    const { default: catalogue } = await import(pathToFileURL(built('notifications/kinds/catalogue.js')).href);
    return catalogue.KINDS;
  }

  /** A key for the API; whoever can reach the database makes the first one. */
  async makeKey() {
    this.key = (await this.newKey('demo', 'admin')).token;
  }

  /** Another, of somebody in support. */
  async makeSupportKey() {
    this.supportKey = await this.newKey('anna', 'operator');
  }

  /** A key of somebody's, with its token. */
  async newKey(name, role) {
    const args = ['key', 'create', '--name', name, '--role', role, '--expires-in', '1d', '--json'];
    return JSON.parse(await this.parley(...args));
  }

  /** One process plays all partners. */
  startPartners(manners) {
    const { brokers, caFile } = this.kafka;
    const options = ['--brokers', brokers, '--ca', caFile, '--accounts', this.access.accountsFile];
    const partners = this.partners.flatMap(({ id, format }) => ['--partner', `${id}=${format}`]);
    closeSync(openSync(this.journal, 'a'));
    const registry = ['--registry', this.registry.url];
    const args = [...options, ...registry, ...partners, ...manners, '--seed', 'demo', '--journal', this.journal];
    this.simulator = this.start('partners', [built('simulator/main.js'), ...args]);
  }

  start(name, args, env = {}) {
    const log = join(this.folder, `${name}.log`);
    const options = { log, env: { ...this.childEnv(), ...env }, cwd: ROOT };
    return Object.assign(startServer(process.execPath, args, options), { name, log });
  }

  childEnv() {
    return { PATH: process.env.PATH, ...this.env };
  }

  /** Until Parley serves and its consumer reads; throws when it ended or takes longer than two minutes. */
  async parleyReady() {
    await this.until(this.app, async () => {
      const answer = await fetch(`${this.managementUrl}/readyz?verbose`, { signal: AbortSignal.timeout(2000) });
      const { checks } = await answer.json();
      this.app.said = JSON.stringify(checks);
      // Copies of dead letters that wait for a broker which was away stop no reading.
      const reads = checks.consumer?.status === 'up' || /dead letter topic/.test(checks.consumer?.message);
      return answer.ok && reads && checks.relay?.status === 'up';
    });
  }

  async notifierReady() {
    await this.until(this.notifier, async () => (await fetch(`${this.notifierUrl}/readyz`)).ok);
  }

  async partnersReady() {
    await this.until(this.simulator, () => readFileSync(this.simulator.log, 'utf8').includes('ready:'));
  }

  async until(server, condition) {
    for (const deadline = Date.now() + 120_000; ; await delay(50)) {
      if (await Promise.resolve(condition()).catch(() => false)) return;
      const late = `was not ready within 120 s${server.said === undefined ? '' : `: ${server.said}`}`;
      const why = server.ended ?? (Date.now() > deadline ? late : undefined);
      if (why) throw new ServerError(`The process "${server.name}" ${why}.`, tail(server.log), `Read ${server.log}.`);
    }
  }

  killParley() {
    return endServer(this.app, 'SIGKILL');
  }

  killNotifier() {
    return endServer(this.notifier, 'SIGKILL');
  }

  /** Everything down again, in the order in which the parts need each other. */
  async stop({ keepFolder = false } = {}) {
    await Promise.all([this.app, this.notifier].map((server) => server && endServer(server, 'SIGTERM', 10_000)));
    if (this.simulator) await endServer(this.simulator, 'SIGTERM', 5000);
    await Promise.all([this.kafka?.stop(), this.postgres?.stop(), this.registry?.stop(), this.people.stop()]);
    if (!keepFolder) rmSync(this.folder, { recursive: true, force: true });
  }
}

function requireBuild() {
  if (existsSync(built('main.js'))) return;
  throw new ServerError(
    'Parley is not built.',
    `${built('main.js')} is missing.`,
    'Start it with "npm run demo", which builds first.',
  );
}
