import { Controller, Inject, Optional } from '@nestjs/common';
import { orderRequest, orderResponse, type OrderResponse } from '../contracts';
import { HandlesContract, type InboundBatch, type InboundMessage, type Outcome } from '../messaging/consumer';
import { Exchanges } from '../messaging/exchanges';
import { storable } from '../platform/database';
import { type Applied, causeOf, exchangeAnswersOf, judge, lockAnswered, observe, timeliness } from './answering';
import { decide } from './domain/decide';
import type { OrderEventDetail } from './domain/order';
import { DEAF, ORDER_OBSERVER, type OrderObserver } from './order-observer';
import { OrderRepository } from './order.repository';
import { OrderSteps } from './order-steps';

/** Partners' answers to orders, a batch at a time. */
@Controller()
export class OrderResponseHandler {
  constructor(
    @Inject(OrderRepository) private readonly repository: OrderRepository,
    @Inject(OrderSteps) private readonly steps: OrderSteps,
    @Inject(Exchanges) private readonly exchanges: Exchanges,
    @Optional() @Inject(ORDER_OBSERVER) private readonly observer: OrderObserver = DEAF,
  ) {}

  /** Locks orders, then exchanges; decides in memory; writes each order back once. Five statements, however many messages; one more where an order is unknown. */
  @HandlesContract(orderResponse)
  async handle({ tx, partner, now, messages }: InboundBatch<OrderResponse>): Promise<Outcome[]> {
    const withLines = messages
      .filter((message) => message.value.responseCode === 'CA')
      .map((message) => message.value.orderNumber);
    const rooms = { repository: this.repository, exchanges: this.exchanges };
    const locked = await lockAnswered(tx, partner, messages, rooms, withLines);
    const answering = { request: orderRequest, isInterim, now };
    const { outcomes, applied } = judge(messages, locked, answering, (order, { value }) => decide(order, value));
    await this.steps.record(
      tx,
      applied.map((answer) => ({
        order: answer.order,
        type: answer.type,
        message: causeOf(answer.message),
        detail: detailOf(answer, now),
      })),
      now,
    );
    // Whoever agreed to cancel ended the exchange with that; what it says of the order afterwards doesn't open it again.
    const answered = applied.filter(({ type }) => type !== 'answer-noted');
    await this.exchanges.answer(tx, exchangeAnswersOf(answered, now));
    observe(this.observer, applied, now);
    return outcomes;
  }
}

const isInterim = ({ value }: InboundMessage<OrderResponse>): boolean => value.responseCode === 'AB';

function detailOf(answer: Applied<InboundMessage<OrderResponse>>, now: Date): OrderEventDetail {
  const { reason, lines, responseCode } = answer.message.value;
  return {
    ...(reason === undefined ? {} : { reason: storable(reason) }),
    ...(answer.type === 'answer-noted' ? { code: responseCode } : timeliness(answer, now)),
    ...(lines === undefined
      ? {}
      : { lines: lines.map(({ lineNumber, quantity, unitPrice }) => ({ lineNumber, quantity, unitPrice })) }),
  };
}
