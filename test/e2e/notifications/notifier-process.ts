import { eventually } from '../../support/eventually';
import { pauseProcess, type Heal } from '../../support/faults';
import { uniqueName } from '../../support/kafka';
import { Program } from '../../support/parley-process';

type Sql = <Row>(text: string, values?: unknown[]) => Promise<Row[]>;

/** A notifier in a process of its own. */
export class NotifierProcess {
  readonly name = uniqueName('notifier');
  private readonly program: Program;

  constructor(
    env: NodeJS.ProcessEnv,
    private readonly sql: Sql,
    /** Of the whole program, in place of the role alone. */
    entry?: string,
  ) {
    const own = { ...env, INSTANCE_ID: this.name };
    this.program = entry
      ? Program.run(entry, [], own)
      : Program.script('test/e2e/notifications/notifier.cjs', [], { cwd: process.cwd(), env: own });
  }

  get output(): string {
    return this.program.output;
  }

  get alive(): boolean {
    return this.program.alive;
  }

  /** Exit code or signal, once it has ended. */
  get end(): string {
    const { exitCode, signalCode } = this.program.child;
    return String(exitCode ?? signalCode);
  }

  async ready(): Promise<this> {
    const sign = /^ready$|"msg":"started"/m;
    await eventually(
      () => {
        if (!this.alive) throw new Error(`it ended: ${this.output}`);
        return sign.test(this.output);
      },
      { timeout: 60_000, what: `${this.name} is ready` },
    );
    return this;
  }

  /** Statements of it that wait for a lock, where they begin so. */
  async waiting(beginning = ''): Promise<number> {
    const [row] = await this.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock' AND query ~ $2`,
      [`parley ${this.name}`, `^\\s*${beginning}`],
    );
    return row?.n ?? 0;
  }

  /** SIGKILL; then its backends, since one that waits for a lock would go on without it. Resolves when nothing of it is left. */
  async kill(): Promise<void> {
    await this.program.end('SIGKILL');
    await eventually(
      async () => {
        const left = await this.sql(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
          [`parley ${this.name}`],
        );
        return left.length === 0;
      },
      { what: `the backends of ${this.name} are gone` },
    );
  }

  /** SIGSTOP, until it is healed. */
  sleep(): Promise<Heal> {
    return pauseProcess(this.program.child.pid ?? 0);
  }

  /** SIGTERM; resolves when what it had begun has ended. */
  async stop(): Promise<void> {
    const code = await this.program.end('SIGTERM');
    if (code !== 0) throw new Error(`${this.name} ended with ${code}: ${this.output}`);
  }
}
