import { orderRequest } from '../contracts';
import { lastReceived } from '../messaging/consumer';
import { openExchanges } from '../messaging/exchanges';
import { lastSent } from '../messaging/outbox';
import type { Clock } from '../platform/clock';
import type { Database } from '../platform/database';
import { messageOf } from '../platform/errors';
import { nowAndThen } from '../platform/polling';
import type { GaugeBoard, Logger } from '../platform/telemetry';

const EVERY_MS = 15_000;
/** What came so long before the start is still shown. */
const BACK_MS = 15 * 60_000;

type Figures = Map<string, number>;

/** How it stands with each partner, as gauges: read from the database now and then, never per scrape. */
export class PartnerFigures {
  private awaiting: Figures = new Map();
  private overdue: Figures = new Map();
  private readonly received: Figures = new Map();
  private readonly sent: Figures = new Map();
  private since: Date | undefined;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  show(board: GaugeBoard): void {
    const byPartner = (figures: () => Figures) => () =>
      [...figures()].map(([partner, value]) => ({ labels: { partner }, value }));
    board.gauges(
      'parley_orders_awaiting_response',
      'Orders whose final answer is still to come and not overdue.',
      ['partner'],
      byPartner(() => this.awaiting),
    );
    board.gauges(
      'parley_orders_overdue',
      'Orders of which an answer (to the order or to its cancellation) is overdue.',
      ['partner'],
      byPartner(() => this.overdue),
    );
    const messages = (figures: Figures, direction: 'in' | 'out') =>
      [...figures].map(([partner, value]) => ({ labels: { partner, direction }, value }));
    board.gauges(
      'parley_partner_last_message_timestamp_seconds',
      "When a partner's message was last taken (in), and when one was last in its topic (out). Absent while none came since shortly before the start.",
      ['partner', 'direction'],
      () => [...messages(this.received, 'in'), ...messages(this.sent, 'out')],
    );
  }

  run(signal: AbortSignal): Promise<void> {
    return nowAndThen(() => this.read(), {
      everyMs: EVERY_MS,
      signal,
      onFailure: (error) =>
        this.logger.warn({ reason: messageOf(error) }, "partners' figures could not be read; the last ones are shown"),
    });
  }

  /** All of them, once. */
  async read(): Promise<void> {
    const now = this.clock.now();
    this.awaiting = counts(await openExchanges(this.database, orderRequest));
    this.overdue = counts(
      await this.database.query<{ partner: string; count: number }>(
        'SELECT partner, count(*)::int AS count FROM orders WHERE overdue IS NOT NULL GROUP BY 1',
      ),
    );
    // A little more than since the last look: what was committed meanwhile bears the time at which its batch began.
    const since = this.since ?? new Date(now.getTime() - BACK_MS);
    for (const { partner, at } of await lastReceived(this.database, since))
      this.received.set(partner, at.getTime() / 1000);
    for (const { partner, at } of await lastSent(this.database)) this.sent.set(partner, at.getTime() / 1000);
    this.since = new Date(now.getTime() - 4 * EVERY_MS);
  }
}

const counts = (rows: readonly { partner: string; count: number }[]): Figures =>
  new Map(rows.map(({ partner, count }) => [partner, count]));
