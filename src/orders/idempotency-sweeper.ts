import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CLOCK, type Clock } from '../platform/clock';
import { CONFIG, type Config } from '../platform/config';
import { Database } from '../platform/database';
import { messageOf } from '../platform/errors';
import { sleep } from '../platform/polling';
import { LOGGER, type Logger } from '../platform/telemetry';
import { OrderRepository } from './order.repository';

const PAUSE_MS = 60_000;
/** Rows of one transaction: short enough to hold nobody up. */
const BATCH = 1000;

/** Deletes idempotency keys past IDEMPOTENCY_RETENTION_HOURS, in processes with the role api. */
@Injectable()
export class IdempotencySweeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(OrderRepository) private readonly repository: OrderRepository,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles' | 'idempotencyHours'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('api')) this.running = this.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Deletes what has expired by now, in bounded transactions; says how many. */
  async sweep(): Promise<number> {
    const before = new Date(this.clock.now().getTime() - this.config.idempotencyHours * 3_600_000);
    for (let total = 0; ;) {
      const deleted = await this.database.transaction((tx) => this.repository.deleteExpiredKeys(tx, before, BATCH));
      total += deleted;
      if (deleted < BATCH || this.stopping.signal.aborted) return total;
    }
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      // Random, so that the processes of an installation don't sweep at once.
      await sleep(PAUSE_MS * (0.5 + Math.random()), this.stopping.signal);
      if (this.stopping.signal.aborted) return;
      try {
        const deleted = await this.sweep();
        if (deleted > 0) this.logger.debug({ deleted }, 'expired idempotency keys deleted');
      } catch (error) {
        this.logger.warn(
          { cause: messageOf(error) },
          'expired idempotency keys could not be deleted; tried again in a minute',
        );
      }
    }
  }
}
