import type { Database } from '../../platform/database';
import { messageOf } from '../../platform/errors';
import { BackgroundLoop, nowAndThen } from '../../platform/polling';
import type { GaugeBoard, Logger } from '../../platform/telemetry';
import type { Partner } from '../partner.entity';

const EVERY_MS = 5_000;

/** Shows how partners stand, from memory; the table is a few rows. Of the whole installation, so the same in every process. */
export class PartnerGauges extends BackgroundLoop {
  private known: readonly Pick<Partner, 'id' | 'state'>[] = [];

  constructor(
    private readonly database: Database,
    board: GaugeBoard,
    private readonly logger: Logger,
  ) {
    super();
    board.gauges(
      'parley_partner_state',
      '1 for the state in which a partner is: active, paused (nothing is sent to it) or suspended (and what it sends is kept unapplied).',
      ['partner', 'state'],
      () => this.known.map(({ id, state }) => ({ labels: { partner: id, state }, value: 1 })),
    );
  }

  /** Looks once. */
  async look(): Promise<void> {
    this.known = await this.database.query('SELECT id, state FROM partner ORDER BY id');
  }

  protected run(signal: AbortSignal): Promise<void> {
    return nowAndThen(() => this.look(), {
      everyMs: EVERY_MS,
      signal,
      // The database may not be there yet, and says so itself.
      onFailure: (error) => this.logger.debug({ reason: messageOf(error) }, 'the states of partners could not be read'),
    });
  }
}
