import { Controller, Inject } from '@nestjs/common';
import { orderRequest, orderResponse, type OrderResponse } from '../contracts';
import { HandlesContract, type InboundBatch, type Outcome } from '../messaging/consumer';
import { Exchanges } from '../messaging/exchanges';
import { storable } from '../platform/database';
import { causeOf, exchangeAnswersOf, judge, lockAnswered } from './answering';
import { decide } from './domain/decide';
import type { OrderEventDetail } from './domain/order';
import { OrderRepository } from './order.repository';
import { OrderSteps } from './order-steps';

/** Partners' answers to orders, a batch at a time. */
@Controller()
export class OrderResponseHandler {
  constructor(
    @Inject(OrderRepository) private readonly repository: OrderRepository,
    @Inject(OrderSteps) private readonly steps: OrderSteps,
    @Inject(Exchanges) private readonly exchanges: Exchanges,
  ) {}

  /** Locks orders, then exchanges; decides in memory; writes each order back once. Five statements, however many messages; one more where an order is unknown. */
  @HandlesContract(orderResponse)
  async handle({ tx, partner, now, messages }: InboundBatch<OrderResponse>): Promise<Outcome[]> {
    const withLines = messages
      .filter((message) => message.value.responseCode === 'CA')
      .map((message) => message.value.orderNumber);
    const rooms = { repository: this.repository, exchanges: this.exchanges };
    const locked = await lockAnswered(tx, partner, messages, rooms, withLines);
    const { outcomes, applied } = judge(messages, locked, orderRequest, (order, { value }) => decide(order, value));
    await this.steps.record(
      tx,
      applied.map(({ message, type, order }) => ({
        order,
        type,
        message: causeOf(message),
        detail: detailOf(message.value, order.deadline < now, type === 'answer-noted'),
      })),
      now,
    );
    // Whoever agreed to cancel ended the exchange with that; what it says of the order afterwards doesn't open it again.
    const answered = applied.filter(({ type }) => type !== 'answer-noted');
    await this.exchanges.answer(
      tx,
      exchangeAnswersOf(answered, ({ value }) => (value.responseCode === 'AB' ? 'acknowledged' : 'answered'), now),
    );
    return outcomes;
  }
}

function detailOf({ reason, lines, responseCode }: OrderResponse, isLate: boolean, isNoted: boolean): OrderEventDetail {
  return {
    ...(reason === undefined ? {} : { reason: storable(reason) }),
    ...(isNoted ? { code: responseCode } : {}),
    ...(isLate && !isNoted ? { late: true } : {}),
    ...(lines === undefined
      ? {}
      : { lines: lines.map(({ lineNumber, quantity, unitPrice }) => ({ lineNumber, quantity, unitPrice })) }),
  };
}
