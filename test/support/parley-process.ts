import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../scripts/servers/index.mjs';
import { PATIENT } from './config';
import { eventually } from './eventually';
import { asAdministrator, asParley, doorOf, type GuardedKafka, guardedKafka } from './guarded-kafka';
import { type KafkaDoor, uniqueName } from './kafka';
import { giveKeyAt, type TestKey } from './staff';

const started = new Set<ChildProcess>();
process.once('exit', () => started.forEach((child) => child.kill('SIGKILL')));

/** Runs a compiled entry of the program (`npm test` builds it first) and keeps what it prints. */
export class Program {
  output = '';
  /** Standard output alone. */
  stdout = '';

  private constructor(readonly child: ChildProcess) {
    started.add(child);
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    child.stdout?.on('data', (text: string) => (this.stdout += text));
    child.once('exit', () => started.delete(child));
  }

  /** @param stdin `pipe`: what is written to the child's */
  static run(
    entry: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    stdin: 'ignore' | 'pipe' = 'ignore',
  ): Program {
    return Program.node([`dist/src/${entry}`, ...args], env, stdin);
  }

  /** A script that requires compiled files. */
  static evaluate(script: string): Program {
    return Program.node(['--eval', script], {});
  }

  /** A script that is not of the program, in a folder of its own. */
  static script(file: string, args: readonly string[], { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }): Program {
    return Program.node([file, ...args], env, 'ignore', cwd);
  }

  private static node(
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    stdin: 'ignore' | 'pipe' = 'ignore',
    cwd = process.cwd(),
  ): Program {
    return new Program(
      spawn(process.execPath, ['--enable-source-maps', ...args], {
        cwd,
        env: { PATH: process.env['PATH'], NODE_OPTIONS: process.env['NODE_OPTIONS'], ...PATIENT, ...env },
        stdio: [stdin, 'pipe', 'pipe'],
      }),
    );
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Sends the signal (SIGKILL: as a crash) and resolves with the exit code, null after a signal's death. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.alive) {
      this.child.kill(signal);
      await once(this.child, 'exit');
    }
    return this.child.exitCode;
  }

  /** Resolves with the exit code of a program that ends by itself, when all that it printed is here. */
  async finished(): Promise<number | null> {
    if (!this.child.stdout?.closed || this.alive) await once(this.child, 'close');
    return this.child.exitCode;
  }
}

/** Parley as an installation runs it: a process of its own that can be killed and started again on the same ports. */
export class ParleyProcess {
  private program: Program | undefined;
  private made: Promise<TestKey> | undefined;

  private constructor(
    private readonly env: NodeJS.ProcessEnv & { DATABASE_URL: string },
    private readonly kafka: GuardedKafka,
    readonly apiUrl: string,
    readonly managementUrl: string,
  ) {}

  /** @param kafka where it runs under an account of its own, which may nothing but what {@link addPartner} gives it */
  static async prepare(
    databaseUrl: string,
    env: NodeJS.ProcessEnv = {},
    kafka: GuardedKafka = guardedKafka(),
  ): Promise<ParleyProcess> {
    const [api, management] = [await freePort(), await freePort()];
    return new ParleyProcess(
      {
        DATABASE_URL: databaseUrl,
        ...asParley(kafka),
        // Others use the same broker at the same time: with them in one group, neither would get its partitions.
        KAFKA_CONSUMER_GROUP: uniqueName('parley'),
        HTTP_PORT: String(api),
        MANAGEMENT_PORT: String(management),
        LOG_LEVEL: 'info',
        ...env,
      },
      kafka,
      `http://127.0.0.1:${api}`,
      `http://127.0.0.1:${management}`,
    );
  }

  /** Everything that this start printed. */
  get output(): string {
    return this.program?.output ?? '';
  }

  get alive(): boolean {
    return this.program?.alive ?? false;
  }

  launch(): void {
    this.program = Program.run('main.js', [], this.env);
  }

  async start(): Promise<void> {
    this.launch();
    await this.ready();
  }

  async ready(): Promise<void> {
    await eventually(
      async () => {
        if ((await this.probe('readyz')) === 200) return true;
        throw new Error(`it is not ready, and printed: ${this.output}`);
      },
      // To load the program alone takes a busy machine more than a minute.
      { timeout: 180_000, interval: 50, what: 'Parley is ready' },
    );
  }

  /** HTTP status of a probe, 0 when nothing answers. */
  async probe(name: 'livez' | 'readyz' | 'startupz'): Promise<number> {
    return fetch(`${this.managementUrl}/${name}`).then(
      (response) => response.status,
      () => 0,
    );
  }

  /** Of an administrator; made when it is first asked for, in a database that is migrated. */
  key(): Promise<TestKey> {
    return (this.made ??= giveKeyAt(this.env.DATABASE_URL));
  }

  /** Asks the API with {@link key}. */
  async request(path: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    const { headers } = await this.key();
    return fetch(`${this.apiUrl}${path}`, { ...init, headers: { ...headers, ...init.headers } });
  }

  /** Runs `parley …` against the same servers; rejects unless it ends with 0. */
  async cli(...args: string[]): Promise<string> {
    return (await this.command(args, this.env)).output;
  }

  /** `parley partner add …`, by an administrator of the broker. Returns the partner's way into it. */
  async addPartner(id: string, ...options: string[]): Promise<KafkaDoor> {
    const args = ['partner', 'add', id, ...options, '--json'];
    const { stdout } = await this.command(args, { ...this.env, ...asAdministrator(this.kafka) });
    const { account } = JSON.parse(stdout) as { account: { username: string; password: string } };
    return doorOf(this.kafka, { username: account.username, password: account.password });
  }

  private async command(args: string[], env: NodeJS.ProcessEnv): Promise<Program> {
    const program = Program.run('cli/main.js', args, env);
    const code = await program.finished();
    if (code !== 0) throw new Error(`parley ${args.join(' ')} ended with ${code}: ${program.output}`);
    return program;
  }

  end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    return this.program?.end(signal) ?? Promise.resolve(null);
  }
}
