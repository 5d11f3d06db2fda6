import { Notifications } from '../../../src/notifications';
import { createWatchers } from '../../../src/notifications/watch/create-watchers';
import type { Watchers } from '../../../src/notifications/watch/watchers';
import { Partners } from '../../../src/partners';
import { query } from '../../../src/platform/database';
import { notificationsOfKind, subscribe } from '../../support/receivers';
import { recordingLogger } from '../kafka/fixtures';
import { type OrdersApp, startOrders } from '../orders/orders-app';

export const HOUR = 3_600_000;
/** Of silence until people are told. */
export const HOURS = 24;

/** The orders room with watchers over it, whose clock stands where a test puts it; the rest of the program goes by the real one. */
export class WatchApp {
  /** What the watchers take for now. */
  now = new Date();
  readonly lines: Record<string, unknown>[];
  private readonly logger: ReturnType<typeof recordingLogger>['logger'];

  private constructor(readonly orders: OrdersApp) {
    const { logger, lines } = recordingLogger();
    this.logger = logger;
    this.lines = lines;
  }

  static async start(): Promise<WatchApp> {
    const orders = await startOrders();
    await subscribe(orders.database, { id: 'ops-desk', kinds: ['partner-silent', 'dead-letters-open'] });
    return new WatchApp(orders);
  }

  /** As a process of its own has them. */
  watchers(partnerSilentHours = HOURS): Watchers {
    return createWatchers(
      { partnerSilentHours },
      {
        database: this.orders.database,
        partners: this.orders.app.get(Partners),
        notifications: this.orders.app.get(Notifications),
        clock: { now: () => this.now },
        logger: this.logger,
      },
    );
  }

  /** So many hours later. */
  pass(hours: number): Date {
    return (this.now = new Date(this.now.getTime() + hours * HOUR));
  }

  look(hours = 0): Promise<void> {
    this.pass(hours);
    return this.watchers().look();
  }

  write(sql: string, values: Record<string, unknown> = {}): Promise<unknown[]> {
    return this.orders.database.transaction((tx) => query(tx, sql, values));
  }

  private letters = 0;

  /** Messages of partners that died just now, or so many hours ago. */
  die(letters: readonly { partner: string; code: string }[], hoursAgo = 0): Promise<unknown[]> {
    return this.write(
      `INSERT INTO parked_inbound (partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, type, header_names, header_values, raw_value, code, fingerprint,
         parked_at, first_failed_at, last_failed_at)
       SELECT partner, 'k', 'dead', 1, 'letter-' || :before::int + n, 't', 0, 1, :at, 'type', '{}', '{}', 'x', code, code, :at, :at, :at
       FROM unnest(:partners::text[], :codes::text[]) WITH ORDINALITY l (partner, code, n)`,
      {
        at: new Date(this.now.getTime() - hoursAgo * HOUR),
        before: (this.letters += letters.length) - letters.length,
        partners: letters.map(({ partner }) => partner),
        codes: letters.map(({ code }) => code),
      },
    );
  }

  /** What was told of a kind. */
  async told(kind: string): Promise<Record<string, unknown>[]> {
    return (await notificationsOfKind(this.orders.database, kind)).map(({ data }) => data);
  }
}
