import type { Tx } from '../platform/database';
import type { Despatched } from './domain/notice';
import type { OrderEventDetail, Reply, StepType } from './domain/order';
import type { OrderNotices } from './order-notices';
import type { LockedOrder, NewEvent, OrderRepository } from './order.repository';

/** One step of a locked order, caused by a partner's message. */
export interface OrderStep {
  /** The order after the step, its version one higher: `{ ...locked, state, version: locked.version + 1 }`. */
  order: LockedOrder;
  /** What happened; the order's new state, where it has one. */
  type: StepType;
  /** The partner's message. */
  message: {
    id: string;
    correlationId: string;
    topic: string;
    partition: number;
    /** Decimal text. */
    offset: string;
  };
  detail?: Omit<OrderEventDetail, 'reply'>;
  /** Our answer through the outbox in the same transaction; the timeline shows its place in Kafka. */
  reply?: Reply;
  /** Of a despatch: told to whoever wants to hear of it, and kept by whoever recorded it. */
  despatch?: Despatched;
}

/** How other rooms take an order further: lock, decide, record, in one transaction. */
export class OrderSteps {
  constructor(
    private readonly repository: OrderRepository,
    private readonly notices: OrderNotices,
  ) {}

  /**
   * Locks this partner's orders (sorted by number) and reads them whole; another partner's are as good as unknown. Comes
   * before any exchange is locked, and before `Outbox.add` of a message with these keys.
   */
  async lock(tx: Tx, partner: string, orderNumbers: readonly string[]): Promise<ReadonlyMap<string, LockedOrder>> {
    const found = new Map<string, LockedOrder>();
    // A second look, in a new statement, before an order is called unknown: READ COMMITTED may only now see it.
    for (let look = 1; look <= 2; look++) {
      const missing = [...new Set(orderNumbers)].filter((orderNumber) => !found.has(orderNumber));
      if (missing.length === 0) break;
      for (const order of await this.repository.lock(tx, partner, missing, missing))
        found.set(order.orderNumber, order);
    }
    return found;
  }

  /**
   * Writes steps of locked orders: each to the history, each order once, as its last step left it; and tells those of which
   * people want to hear. Steps of one order stand in their order, their versions without a gap.
   */
  async record(tx: Tx, steps: readonly OrderStep[], now: Date): Promise<void> {
    if (steps.length === 0) return;
    const last = new Map(steps.map(({ order }) => [order.orderNumber, order]));
    await this.repository.update(tx, [...last.values()], now);
    await this.repository.addEvents(tx, steps.map(eventOf), now);
    await this.notices.raise(
      tx,
      steps.map(({ order: { orderNumber, partner, version }, type, detail, despatch }) => ({
        ...{ orderNumber, partner, version, type, detail, despatch },
      })),
      now,
    );
  }
}

function eventOf({ order, type, message, detail, reply }: OrderStep): NewEvent {
  const { id: messageId, ...place } = message;
  const whole: OrderEventDetail = { ...detail, ...(reply ? { reply } : {}) };
  return {
    orderNumber: order.orderNumber,
    version: order.version,
    type,
    messageId,
    ...place,
    outboxSeq: null,
    detail: Object.keys(whole).length > 0 ? whole : null,
  };
}
