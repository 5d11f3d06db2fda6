import type { NotificationEvent, Notifications } from '../notifications';
import type { Partners } from '../partners';
import type { Tx } from '../platform/database';
import type { Logger } from '../platform/telemetry';
import { type Happening, isTold, noticeOf } from './domain/notice';

/** Tells people and systems what happened to orders, in the transaction in which it happened. */
export class OrderNotices {
  constructor(
    private readonly notifications: Notifications,
    private readonly partners: Partners,
    private readonly logger: Logger,
  ) {}

  /** Costs nothing where none of it is to be told; otherwise what `Notifications.raise` costs, however many they are. */
  async raise(tx: Tx, happenings: readonly Happening[], now: Date): Promise<void> {
    const told = happenings.filter(isTold);
    if (told.length === 0) return;
    const names = new Map<string, string>();
    for (const partner of new Set(told.map((happening) => happening.partner)))
      names.set(partner, (await this.partners.find(partner, tx))?.name ?? partner);
    const events = told.flatMap((happening) => noticeOf(happening, names.get(happening.partner) as string, now) ?? []);
    await this.notifications.raise(
      tx,
      events.filter((event) => this.isFit(event)),
      now,
    );
  }

  /** What is wrong with our words must not keep a partner's message from being applied. */
  private isFit(event: NotificationEvent): boolean {
    const fault = this.notifications.fault(event);
    if (!fault) return true;
    const { code, pointer, detail } = fault;
    this.logger.error(
      { order: event.orderNumber, partner: event.partner, kind: event.kind, code, pointer, reason: detail },
      'nobody is told of a step of an order: its event is not fit',
    );
    return false;
  }
}
