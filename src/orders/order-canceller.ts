import { hash, randomUUID } from 'node:crypto';
import { orderCancellation } from '../contracts';
import type { Exchanges } from '../messaging/exchanges';
import type { Outbox, PreparedMessage } from '../messaging/outbox';
import type { Clock } from '../platform/clock';
import type { Database, Tx } from '../platform/database';
import { NonRetriableError } from '../platform/errors';
import { audit, type Caller } from '../staff';
import { requestCancellation } from './domain/cancel';
import type { Cancellation, Order } from './domain/order';
import { inProgress, keyReused, lockOf } from './idempotency';
import type { IdempotencyRepository } from './idempotency.repository';
import type { LockedOrder, OrderRepository } from './order.repository';

export interface CancelOrder {
  /** Who asks; its id is part of the key's name, so that nobody meets another's keys. */
  by: Caller;
  idempotencyKey: string;
  order: Pick<Order, 'orderNumber' | 'partner'>;
  reason: string;
  /** Trace context that goes out with the message. */
  traceparent: string;
}

/** What was asked, as the first answer says it, whatever has become of it. */
export type Requested = Pick<Order, 'orderNumber'> & Pick<Cancellation, 'reason' | 'requestedAt'>;

/** One request on its way; ids are given here, so that a repeated transaction says the same. */
interface Asked extends CancelOrder {
  requestHash: Buffer;
  correlationId: string;
  now: Date;
  deadline: Date;
}

/** How long the partner has to answer, as the contract says. */
const ANSWER_WITHIN_MS = orderCancellation.deadlineMs ?? Number.NaN;

/** Asks partners to cancel orders. */
export class OrderCanceller {
  constructor(
    private readonly database: Database,
    private readonly rows: { orders: OrderRepository; keys: IdempotencyRepository },
    private readonly outbox: Outbox,
    private readonly exchanges: Exchanges,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves after the commit: the partner will be asked, and the audit says who wanted it. Or tells the first answer again. Throws AppError
   * `order-not-cancellable`, `cancellation-pending`, `idempotency-key-in-progress`, `idempotency-key-reused` or what made
   * the document impossible. After any other error the outcome may be unknown; the same key makes the repeat safe.
   */
  async cancel(request: CancelOrder): Promise<Requested> {
    const { order, reason, traceparent } = request;
    const { orderNumber, partner } = order;
    const now = this.clock.now();
    const correlationId = randomUUID();
    const message = await this.outbox.prepare({
      contract: orderCancellation,
      partner,
      value: { orderNumber, issuedAt: now.toISOString(), reason },
      id: randomUUID(),
      time: now,
      aggregateType: 'order',
      correlationId,
      traceparent,
    });
    const requestHash = hash('sha256', JSON.stringify(['cancellation', orderNumber, reason]), 'buffer');
    const deadline = new Date(now.getTime() + ANSWER_WITHIN_MS);
    const asked: Asked = { ...request, requestHash, correlationId, now, deadline };
    const answer = await this.database.transaction((tx) => this.once(tx, asked, message));
    this.outbox.wake();
    return answer;
  }

  /** The key first, then the order: as where orders are placed. */
  private async once(tx: Tx, asked: Asked, message: PreparedMessage): Promise<Requested> {
    const key = { caller: asked.by.id, key: asked.idempotencyKey };
    if (!(await this.rows.keys.tryLock(tx, lockOf(key)))) throw inProgress();
    const used = await this.rows.keys.used(tx, key);
    if (used && !used.requestHash.equals(asked.requestHash)) throw keyReused();
    if (used) return this.firstAnswer(tx, used.orderNumber, used.version);
    const { orderNumber, partner } = asked.order;
    const [order] = await this.rows.orders.lock(tx, partner, [orderNumber], []);
    if (!order) throw new Error(`order ${orderNumber} of ${partner} is gone`);
    const decision = requestCancellation(order, asked, asked.now);
    if (decision.kind === 'refused') throw new NonRetriableError(decision.code, decision.detail);
    const after = { ...order, version: order.version + 1, cancellation: decision.cancellation };
    await this.write(tx, after, asked, message);
    const { requestHash, by, reason, now } = asked;
    await this.rows.keys.use(tx, key, { requestHash, orderNumber, version: after.version }, now);
    await audit(tx, { by, action: 'order.cancel', object: `order/${orderNumber}`, partner, reason }, now);
    return { orderNumber, reason, requestedAt: decision.cancellation.requestedAt };
  }

  /** The order's row lock is held: the cancellation's `seq` comes after the order's own. */
  private async write(tx: Tx, order: LockedOrder, asked: Asked, message: PreparedMessage): Promise<void> {
    const { orderNumber, partner, version } = order;
    const { correlationId, now, deadline, reason } = asked;
    const { id: messageId, topic, partition } = message;
    const [seq] = await this.outbox.add(tx, [message]);
    const outboxSeq = seq as string;
    await this.rows.orders.update(tx, [order], now);
    const event = { orderNumber, version, messageId, correlationId, outboxSeq, topic, partition, offset: null };
    const detail = { reason, due: deadline.toISOString() };
    await this.rows.orders.addEvents(tx, [{ ...event, type: 'cancellation-requested', detail }], now);
    const exchange = { correlationId, partner, direction: 'out' as const, kind: orderCancellation.name, orderNumber };
    const request = { requestMessageId: messageId, requestSeq: outboxSeq, deadline, openedAt: now };
    await this.exchanges.open(tx, [{ ...exchange, ...request }]);
  }

  private async firstAnswer(tx: Tx, orderNumber: string, version: number): Promise<Requested> {
    const { at, detail } = await this.rows.orders.step(tx, orderNumber, version);
    return { orderNumber, reason: detail?.reason ?? '', requestedAt: at.toISOString() };
  }
}
