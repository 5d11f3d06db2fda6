import { orderCancellation, orderRequest } from '../contracts';
import type { DeadlineBatch, DeadlineStep, Exchanges } from '../messaging/exchanges';
import type { Tx } from '../platform/database';
import { withOverdue } from './domain/order';
import type { Happening } from './domain/notice';
import type { OrderNotices } from './order-notices';
import type { LockedOrder, NewEvent, OrderRepository } from './order.repository';

/** What a passed deadline does to an order: a step of its history, `overdue` where the order shows it, and then people are told. */
export class OrderDeadlines {
  constructor(
    private readonly repository: OrderRepository,
    private readonly notices: OrderNotices,
    exchanges: Exchanges,
  ) {
    for (const request of [orderRequest, orderCancellation]) exchanges.deadlines.on(request, this.onDeadline);
  }

  readonly onDeadline = async (tx: Tx, { partner, orderNumbers, now, judge }: DeadlineBatch): Promise<void> => {
    const locked = await this.repository.lock(tx, partner, orderNumbers, []);
    const orders = new Map(locked.map((order) => [order.orderNumber, order]));
    const events: NewEvent[] = [];
    const happenings: Happening[] = [];
    for (const step of await judge()) {
      const { orderNumber } = step.exchange;
      const before = orders.get(orderNumber);
      if (!before) throw new Error(`order ${orderNumber} of ${partner} is gone`);
      const after = orderAfter(before, step, now);
      orders.set(orderNumber, after);
      events.push(eventOf(after, step));
      happenings.push(happeningOf(after, step, now));
    }
    if (events.length === 0) return;
    const touched = new Set(events.map(({ orderNumber }) => orderNumber));
    await this.repository.update(
      tx,
      [...touched].map((orderNumber) => orders.get(orderNumber) as LockedOrder),
      now,
    );
    await this.repository.addEvents(tx, events, now);
    await this.notices.raise(tx, happenings, now);
  };
}

const orderAfter = (order: LockedOrder, { kind, exchange }: DeadlineStep, now: Date): LockedOrder => ({
  ...order,
  version: order.version + 1,
  ...(kind === 'overdue' ? { overdue: withOverdue(order.overdue, exchange.correlationId, now) } : {}),
});

function happeningOf({ orderNumber, partner, version }: LockedOrder, step: DeadlineStep, now: Date): Happening {
  const happening = { orderNumber, partner, version };
  if (step.kind === 'resent') return { ...happening, type: 'sent-again' };
  const { deadline, resends, kind } = step.exchange;
  const missed = { deadline: deadline ?? now, resends, isCancellation: kind === orderCancellation.name };
  return { ...happening, type: 'overdue', missed };
}

function eventOf({ orderNumber, version }: LockedOrder, step: DeadlineStep): NewEvent {
  const { requestMessageId: messageId, correlationId } = step.exchange;
  const event = { orderNumber, version, messageId, correlationId, offset: null };
  if (step.kind === 'overdue') {
    const detail = { reason: step.reason };
    return { ...event, type: 'overdue', outboxSeq: null, topic: null, partition: null, detail };
  }
  const { seq, topic, partition, times, of, deadline } = step;
  const detail = { resend: { times, of }, due: deadline.toISOString() };
  return { ...event, type: 'sent-again', outboxSeq: seq, topic, partition, detail };
}
