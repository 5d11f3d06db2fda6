import { LessThanOrEqual } from 'typeorm';
import type { Notifications } from '../notifications';
import type { Clock } from '../platform/clock';
import type { Database } from '../platform/database';
import type { Caller } from '../staff';
import type { Order } from './domain/order';
import { notified } from './domain/notified';
import { NO_PLACE, type OrderEvent, timelineOf, type TimelineStep } from './domain/timeline';
import { OrderEventEntity } from './order.entity';
import type { Correspondence, OrderExchanges } from './order-exchanges';

/** The story of one order, from its events, its exchanges, the relay's receipts, what of it is parked, and who was told. */
export class OrderTimeline {
  constructor(
    private readonly database: Database,
    private readonly exchanges: OrderExchanges,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  async of(order: Order, by: Pick<Caller, 'partners'>): Promise<TimelineStep[]> {
    const { events, correspondence } = await this.read(order);
    const told = await this.notifications.ofOrder(order.orderNumber, by);
    const story = timelineOf(order, events, correspondence, this.clock.now());
    return [
      ...story,
      ...told.map((note) => ({ ...notified(note), messageId: null, correlationId: null, ...NO_PLACE })),
    ];
  }

  /** What the story is told from. */
  async read(order: Order): Promise<{ events: OrderEvent[]; correspondence: Correspondence }> {
    const { orderNumber } = order;
    const history = this.database.dataSource.getRepository(OrderEventEntity);
    // No step that the order, which was read before, doesn't know of: it would stand beside a wait that it has ended.
    const version = LessThanOrEqual(order.version);
    const events = await history.find({ where: { orderNumber, version }, order: { version: 'ASC' } });
    return { events, correspondence: await this.exchanges.of(order, events) };
  }
}
