import type { Exchange, Exchanges } from '../messaging/exchanges';
import type { Clock } from '../platform/clock';
import type { Database, Tx } from '../platform/database';
import { NonRetriableError } from '../platform/errors';
import { audit, type Caller } from '../staff';
import { type Order, withoutOverdue } from './domain/order';
import type { LockedOrder, OrderRepository } from './order.repository';

export interface WithdrawExchange {
  by: Caller;
  order: Pick<Order, 'orderNumber' | 'partner'>;
  correlationId: string;
  reason: string;
}

/** Ends the wait for an answer that staff no longer expect. */
export class OrderWithdrawer {
  constructor(
    private readonly database: Database,
    private readonly repository: OrderRepository,
    private readonly exchanges: Exchanges,
    private readonly clock: Clock,
  ) {}

  /**
   * Nobody waits for the answer any more: no deadline, nothing overdue. The partner is told nothing, so its word still counts if it comes. Asked
   * again it changes nothing. Throws AppError `exchange-unknown`, or `exchange-ended` when the answer is there.
   */
  withdraw(request: WithdrawExchange): Promise<void> {
    const { orderNumber, partner } = request.order;
    return this.database.transaction(async (tx) => {
      const [order] = await this.repository.lock(tx, partner, [orderNumber], []);
      const exchange = (await this.exchanges.lock(tx, partner, 'out', [request.correlationId])).get(
        request.correlationId,
      );
      if (!order || exchange?.partner !== partner || exchange.orderNumber !== orderNumber) {
        throw new NonRetriableError(
          'exchange-unknown',
          `Order ${orderNumber} has no exchange of ours with this correlation id.`,
        );
      }
      if (exchange.state === 'withdrawn') return;
      if (exchange.state === 'answered' || exchange.state === 'answered-late') {
        throw new NonRetriableError(
          'exchange-ended',
          `${partner} has answered this request with ${exchange.answerCode ?? 'a message'}.`,
        );
      }
      await this.write(tx, order, exchange, request);
    });
  }

  private async write(tx: Tx, order: LockedOrder, exchange: Exchange, { by, reason }: WithdrawExchange): Promise<void> {
    const now = this.clock.now();
    const { orderNumber, partner, cancellation } = order;
    const { correlationId, requestMessageId: messageId, state, kind } = exchange;
    await this.exchanges.withdraw(tx, { partner, direction: 'out', correlationIds: [correlationId], reason, now });
    const isCancellation = cancellation?.correlationId === correlationId && cancellation.state === 'requested';
    const after: LockedOrder = {
      ...order,
      version: order.version + 1,
      overdue: withoutOverdue(order.overdue, correlationId),
      cancellation: isCancellation ? { ...cancellation, state: 'withdrawn' } : cancellation,
    };
    await this.repository.update(tx, [after], now);
    const event = { orderNumber, version: after.version, messageId, correlationId, outboxSeq: null };
    const nowhere = { topic: null, partition: null, offset: null };
    const detail = { reason, by: by.name };
    await this.repository.addEvents(tx, [{ ...event, ...nowhere, type: 'withdrawn', detail }], now);
    const object = `exchange/${correlationId}`;
    const action = 'exchange.withdraw';
    await audit(tx, { by, action, object, partner, reason, detail: { orderNumber, kind, state } }, now);
  }
}
