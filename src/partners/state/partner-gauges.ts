import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Database } from '../../platform/database';
import { messageOf } from '../../platform/errors';
import { sleep } from '../../platform/polling';
import type { GaugeBoard, Logger } from '../../platform/telemetry';
import type { Partner } from '../partner.entity';

const EVERY_MS = 5_000;

/** Shows how partners stand, from memory; the table is a few rows. Of the whole installation, so the same in every process. */
export class PartnerGauges implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private known: readonly Pick<Partner, 'id' | 'state'>[] = [];
  private failed = false;

  constructor(
    private readonly database: Database,
    board: GaugeBoard,
    private readonly logger: Logger,
  ) {
    board.gauges(
      'parley_partner_state',
      '1 for the state in which a partner is: active, paused (nothing is sent to it) or suspended (and what it sends is kept unapplied).',
      ['partner', 'state'],
      () => this.known.map(({ id, state }) => ({ labels: { partner: id, state }, value: 1 })),
    );
  }

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Looks once. */
  async look(): Promise<void> {
    this.known = await this.database.query('SELECT id, state FROM partner ORDER BY id');
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await this.look();
        this.failed = false;
      } catch (error) {
        // One line when it begins: the database may not be there yet, and says so itself.
        if (!this.failed) this.logger.debug({ reason: messageOf(error) }, 'the states of partners could not be read');
        this.failed = true;
      }
      await sleep(EVERY_MS * (0.75 + Math.random() / 2), signal);
    }
  }
}
