import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../platform/clock';
import { CONFIG, type Config } from '../platform/config';
import { Database } from '../platform/database';
import { messageOf } from '../platform/errors';
import { BackgroundLoop, sweeping } from '../platform/polling';
import { LOGGER, type Logger } from '../platform/telemetry';
import { OrderRepository } from './order.repository';

const EVERY_MS = 60_000;
/** Rows of one transaction: short enough to hold nobody up. */
const BATCH = 1000;

/** Deletes idempotency keys past IDEMPOTENCY_RETENTION_HOURS, in processes with the role api. */
@Injectable()
export class IdempotencySweeper extends BackgroundLoop {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(OrderRepository) private readonly repository: OrderRepository,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles' | 'idempotencyHours'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  /** Deletes what has expired by now, in bounded transactions; says how many. */
  async sweep(): Promise<number> {
    const before = new Date(this.clock.now().getTime() - this.config.idempotencyHours * 3_600_000);
    for (let total = 0; ;) {
      const deleted = await this.database.transaction((tx) => this.repository.deleteExpiredKeys(tx, before, BATCH));
      total += deleted;
      if (deleted < BATCH || this.isStopping) return total;
    }
  }

  protected async run(signal: AbortSignal): Promise<void> {
    if (!this.config.roles.includes('api')) return;
    const sweep = async () => {
      const deleted = await this.sweep();
      if (deleted > 0) this.logger.debug({ deleted }, 'expired idempotency keys deleted');
    };
    await sweeping(sweep, {
      everyMs: EVERY_MS,
      signal,
      onFailure: (error) =>
        this.logger.warn(
          { cause: messageOf(error) },
          'expired idempotency keys could not be deleted; tried again each minute',
        ),
    });
  }
}
