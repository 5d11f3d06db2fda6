import { Controller, Inject } from '@nestjs/common';
import { orderResponse, type OrderResponse } from '../contracts';
import { HandlesContract, type InboundBatch, type InboundMessage, type Outcome } from '../messaging/consumer';
import { type Exchange, Exchanges, ownExchange } from '../messaging/exchanges';
import type { Refusal } from './domain/decide';
import { fold, type Folded } from './domain/fold';
import type { OrderEventDetail } from './order.entity';
import { type LockedOrder, OrderRepository } from './order.repository';

type Message = InboundMessage<OrderResponse>;
interface Applied {
  message: Message;
  order: LockedOrder;
}

/** Partners' answers to orders, a batch at a time. */
@Controller()
export class OrderResponseHandler {
  constructor(
    @Inject(OrderRepository) private readonly repository: OrderRepository,
    @Inject(Exchanges) private readonly exchanges: Exchanges,
  ) {}

  /** Locks orders, then exchanges; decides in memory; writes each order back once. Five statements, however many messages; one more where an order is unknown. */
  @HandlesContract(orderResponse)
  async handle({ tx, partner, now, messages }: InboundBatch<OrderResponse>): Promise<Outcome[]> {
    const byOrder = Map.groupBy(messages, (message) => message.value.orderNumber);
    const withLines = messages
      .filter((message) => message.value.responseCode === 'CA')
      .map((message) => message.value.orderNumber);
    const locked = await this.repository.lock(tx, partner, [...byOrder.keys()], withLines);
    const orders = new Map(locked.map((order) => [order.orderNumber, order]));
    const correlationIds = messages.flatMap((message) => message.correlationId ?? []);
    const exchanges = await this.exchanges.lock(tx, partner, 'out', correlationIds);
    // Order and exchange are committed together: whoever finds the second in its later statement gets the first too.
    const missing = [...byOrder.keys()].filter((orderNumber) => !orders.has(orderNumber));
    if (missing.length > 0) {
      const late = await this.repository.lock(tx, partner, missing, withLines);
      for (const order of late) orders.set(order.orderNumber, order);
    }

    const outcomes = new Map<Message, Outcome>();
    const applied: Applied[] = [];
    for (const [orderNumber, answers] of byOrder) {
      const results = answerOrder(orders.get(orderNumber), answers, exchanges, partner);
      for (const [index, message] of answers.entries()) {
        const result = results[index] as Folded<LockedOrder>;
        if (result.kind === 'applied') applied.push({ message, order: result.order });
        outcomes.set(message, result.kind === 'applied' ? { kind: 'applied' } : result);
      }
    }
    if (applied.length > 0) await this.write(tx, applied, now);
    return messages.map((message) => outcomes.get(message) as Outcome);
  }

  private async write(tx: InboundBatch<OrderResponse>['tx'], applied: readonly Applied[], now: Date): Promise<void> {
    const last = new Map(applied.map(({ order }) => [order.orderNumber, order]));
    await this.repository.update(tx, [...last.values()], now);
    await this.repository.addEvents(
      tx,
      applied.map(({ message, order }) => ({
        orderNumber: order.orderNumber,
        version: order.version,
        type: order.state,
        messageId: message.id,
        correlationId: message.correlationId as string,
        outboxSeq: null,
        topic: message.topic,
        partition: message.partition,
        offset: message.offset,
        detail: detailOf(message.value, order.deadline < now),
      })),
      now,
    );
    await this.exchanges.answer(
      tx,
      applied.map(({ message }) => ({
        correlationId: message.correlationId as string,
        partner: message.partner,
        direction: 'out' as const,
        state: message.value.responseCode === 'AB' ? ('acknowledged' as const) : ('answered' as const),
        messageId: message.id,
        code: message.value.responseCode,
        at: now,
      })),
    );
  }
}

function answerOrder(
  order: LockedOrder | undefined,
  answers: readonly Message[],
  exchanges: ReadonlyMap<string, Exchange>,
  partner: string,
): Folded<LockedOrder>[] {
  const refused = answers.map((message) => refusalOf(message, order, exchanges, partner));
  return fold(
    order ?? UNKNOWN,
    answers.map((message, index) => ({
      response: message.value,
      refusal: refused[index],
      keyed: message.key !== null,
    })),
  );
}

/** Why a message may not speak of its order at all. The texts may reach the partner: another's order is called unknown. */
function refusalOf(
  message: Message,
  order: LockedOrder | undefined,
  exchanges: ReadonlyMap<string, Exchange>,
  partner: string,
): Refusal | undefined {
  const { orderNumber } = message.value;
  const own = ownExchange(exchanges, partner, message.correlationId);
  if (!own.ok) return own.outcome;
  if (!order)
    return {
      kind: 'dead',
      code: 'order-unknown',
      detail: `There is no order ${orderNumber}.`,
      pointer: '/orderNumber',
    };
  if (own.exchange.orderNumber === orderNumber) return undefined;
  return {
    kind: 'dead',
    code: 'exchange-mismatch',
    detail: `The correlation id belongs to a request about another order than ${orderNumber}.`,
    pointer: '/orderNumber',
  };
}

/** Stands where there is no order; every answer to it has been refused before. */
const UNKNOWN: LockedOrder = {
  orderNumber: '',
  partner: '',
  state: 'placed',
  version: 0,
  lines: [],
  agreedLines: null,
  cancellation: null,
  deadline: new Date(0),
};

function detailOf({ reason, lines }: OrderResponse, isLate: boolean): OrderEventDetail | null {
  const detail: OrderEventDetail = {
    ...(reason === undefined ? {} : { reason: storable(reason) }),
    ...(isLate ? { late: true } : {}),
    ...(lines === undefined
      ? {}
      : { lines: lines.map(({ lineNumber, quantity, unitPrice }) => ({ lineNumber, quantity, unitPrice })) }),
  };
  return Object.keys(detail).length > 0 ? detail : null;
}

/** PostgreSQL's jsonb takes neither NUL nor half a surrogate pair, and JSON can carry both. The document's bytes stay in Kafka. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed();
