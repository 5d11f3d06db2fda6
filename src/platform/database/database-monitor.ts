import type { DataSource } from 'typeorm';
import { messageOf } from '../errors';
import { retryForever, sleep } from '../polling';
import type { Logger } from '../telemetry';
import { pendingMigrations } from './migrate';

const RETRY = { initialMs: 250, maxMs: 5000 };
const PING_MS = 2000;
const ANSWER_MS = 5000;

/** Opens the pool, waits for the schema, then keeps looking: probes read its answer from memory. */
export class DatabaseMonitor {
  private fault: string | undefined = 'not connected yet';

  constructor(
    private readonly dataSource: DataSource,
    private readonly log: Logger,
  ) {}

  /** Undefined: reachable, with the schema that this build expects. Otherwise one sentence without host names. */
  get trouble(): string | undefined {
    return this.fault;
  }

  /** Resolves when the database is there and its migrations are at the expected version; waits for both as long as it takes. */
  async ready(signal: AbortSignal): Promise<void> {
    await retryForever(() => this.connect(), {
      policy: RETRY,
      signal,
      onFailure: (error, attempt, pauseMs) => {
        this.fault = 'the database cannot be reached';
        this.log.warn(
          { attempt, retry_in_ms: pauseMs, reason: messageOf(error) },
          'database not reachable: check DATABASE_URL and that PostgreSQL runs',
        );
      },
    });
    await retryForever(() => this.expectSchema(), {
      policy: RETRY,
      signal,
      onFailure: (error, attempt, pauseMs) => this.log.warn({ attempt, retry_in_ms: pauseMs }, messageOf(error)),
    });
    this.fault = undefined;
    void this.watch(signal);
  }

  private async connect(): Promise<void> {
    if (!this.dataSource.isInitialized) await this.dataSource.initialize();
  }

  private async expectSchema(): Promise<void> {
    const pending = await pendingMigrations(this.dataSource);
    if (pending.length === 0) return;
    this.fault = `${pending.length} migrations are pending`;
    throw new Error(`the schema lacks ${pending.length} migrations (first: ${pending[0]}): run "parley migrate"`);
  }

  private async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(PING_MS, signal);
      if (signal.aborted) return;
      // A network that falls silent gives no error for a quarter of an hour. One ping at a time waits in it.
      const silence = setTimeout(() => this.lost(`no answer within ${ANSWER_MS} ms`), ANSWER_MS);
      try {
        await this.dataSource.query('SELECT 1');
        if (this.fault) this.log.info('the database answers again');
        this.fault = undefined;
      } catch (error) {
        if (signal.aborted) return;
        this.lost(messageOf(error));
      } finally {
        clearTimeout(silence);
      }
    }
  }

  private lost(reason: string): void {
    if (!this.fault) this.log.error({ reason }, 'the database does not answer; retrying');
    this.fault = 'the database cannot be reached';
  }
}
