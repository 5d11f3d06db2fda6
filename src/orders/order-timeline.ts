import { LessThanOrEqual } from 'typeorm';
import { parkedOf } from '../messaging/consumer';
import { receiptsOf } from '../messaging/outbox';
import type { Clock } from '../platform/clock';
import type { Database } from '../platform/database';
import type { Order } from './domain/order';
import { sentBy, timelineOf, type TimelineStep } from './domain/timeline';
import { OrderEventEntity } from './order.entity';

/** The story of one order, from its events, the relay's receipts and what of it is parked. */
export class OrderTimeline {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async of(order: Order): Promise<TimelineStep[]> {
    const { orderNumber } = order;
    const history = this.database.dataSource.getRepository(OrderEventEntity);
    // No step that the order, which was read before, doesn't know of: it would stand beside a wait that it has ended.
    const version = LessThanOrEqual(order.version);
    const events = await history.find({ where: { orderNumber, version }, order: { version: 'ASC' } });
    const sent = events.flatMap((event) => sentBy(event) ?? []);
    const [places, parked] = await Promise.all([
      receiptsOf(this.database, sent),
      parkedOf(this.database, order.partner, orderNumber),
    ]);
    return timelineOf(order, events, places, parked, this.clock.now());
  }
}
