import { Controller, Inject, Optional } from '@nestjs/common';
import { orderCancellation, orderCancellationResponse, type OrderCancellationResponse } from '../contracts';
import { HandlesContract, type InboundBatch, type InboundMessage, type Outcome } from '../messaging/consumer';
import { Exchanges } from '../messaging/exchanges';
import { storable, type Tx } from '../platform/database';
import { type Applied, causeOf, exchangeAnswersOf, judge, lockAnswered, observe, timeliness } from './answering';
import { decideCancellation } from './domain/cancel';
import { DEAF, ORDER_OBSERVER, type OrderObserver } from './order-observer';
import { OrderRepository } from './order.repository';
import { type OrderStep, OrderSteps } from './order-steps';

type Answered = Applied<InboundMessage<OrderCancellationResponse>>;

/** Partners' answers to cancellations, a batch at a time. */
@Controller()
export class OrderCancellationResponseHandler {
  constructor(
    @Inject(OrderRepository) private readonly repository: OrderRepository,
    @Inject(OrderSteps) private readonly steps: OrderSteps,
    @Inject(Exchanges) private readonly exchanges: Exchanges,
    @Optional() @Inject(ORDER_OBSERVER) private readonly observer: OrderObserver = DEAF,
  ) {}

  /** As for answers to orders; two statements more where an order is cancelled, whose own exchange ends with that. */
  @HandlesContract(orderCancellationResponse)
  async handle({ tx, partner, now, messages }: InboundBatch<OrderCancellationResponse>): Promise<Outcome[]> {
    const rooms = { repository: this.repository, exchanges: this.exchanges };
    const locked = await lockAnswered(tx, partner, messages, rooms);
    const answering = { request: orderCancellation, now };
    const { outcomes, applied } = judge(messages, locked, answering, (order, { value, correlationId }) =>
      decideCancellation(order, { ...value, ...reasonOf(value) }, correlationId as string, now),
    );
    await this.steps.record(
      tx,
      applied.map((answer) => stepOf(answer, now)),
      now,
    );
    await this.exchanges.answer(tx, exchangeAnswersOf(applied, now));
    const cancelled = applied.filter(({ type }) => type === 'cancelled').map(({ order }) => order.orderNumber);
    if (cancelled.length > 0) await this.withdraw(tx, partner, cancelled, now);
    observe(this.observer, applied, now);
    return outcomes;
  }

  /** Nobody waits any more for the answer to an order that both sides cancelled. */
  private async withdraw(tx: Tx, partner: string, orderNumbers: readonly string[], now: Date): Promise<void> {
    const correlationIds = await this.repository.requestsOf(tx, orderNumbers);
    const reason = 'the order was cancelled';
    await this.exchanges.withdraw(tx, { partner, direction: 'out', correlationIds, reason, now });
  }
}

function stepOf(answer: Answered, now: Date): OrderStep {
  const { message, type, order } = answer;
  return {
    order,
    type,
    message: causeOf(message),
    detail: { ...reasonOf(message.value), ...timeliness(answer, now) },
  };
}

const reasonOf = ({ reason }: OrderCancellationResponse) => (reason === undefined ? {} : { reason: storable(reason) });
