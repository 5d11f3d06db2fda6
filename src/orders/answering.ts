import type { AnyContract } from '../contracts';
import type { InboundMessage, Outcome } from '../messaging/consumer';
import {
  afterAnswer,
  type Answered,
  type Exchange,
  type ExchangeAnswer,
  type Exchanges,
  isLate,
  ownExchange,
} from '../messaging/exchanges';
import type { Tx } from '../platform/database';
import type { Decision, Refusal } from './domain/decide';
import { fold, type Folded } from './domain/fold';
import { type OrderEventDetail, type StepType, withoutOverdue } from './domain/order';
import type { OrderObserver } from './order-observer';
import type { LockedOrder, OrderRepository } from './order.repository';

// What the handlers of partners' answers share.

type Message = InboundMessage<{ orderNumber: string }>;

export interface Locked {
  orders: ReadonlyMap<string, LockedOrder>;
  exchanges: ReadonlyMap<string, Exchange>;
}

/** A message that was applied, with its order after it. */
export interface Applied<M> {
  message: M;
  type: StepType;
  order: LockedOrder;
  /** As it was before. */
  exchange: Exchange;
  /** What the answer makes of it. */
  answered: Answered;
}

/** What a contract's answers are to its requests. */
interface Answering<M> {
  /** What the messages answer. */
  request: AnyContract;
  isInterim?: (message: M) => boolean;
  now: Date;
}

/**
 * Locks orders, then exchanges, each sorted. A second look, in a new statement, follows for orders that were not found:
 * order and exchange are committed together, so whoever finds the second in its later statement gets the first too.
 */
export async function lockAnswered(
  tx: Tx,
  partner: string,
  messages: readonly Message[],
  rooms: { repository: OrderRepository; exchanges: Exchanges },
  linesOf: readonly string[] = [],
): Promise<Locked> {
  const numbers = [...new Set(messages.map((message) => message.value.orderNumber))];
  const orders = new Map<string, LockedOrder>();
  const lockOrders = async (orderNumbers: readonly string[]) => {
    for (const order of await rooms.repository.lock(tx, partner, orderNumbers, linesOf))
      orders.set(order.orderNumber, order);
  };
  await lockOrders(numbers);
  const correlationIds = messages.flatMap((message) => message.correlationId ?? []);
  const exchanges = await rooms.exchanges.lock(tx, partner, 'out', correlationIds);
  const missing = numbers.filter((orderNumber) => !orders.has(orderNumber));
  if (missing.length > 0) await lockOrders(missing);
  return { orders, exchanges };
}

/** Decides in memory, order by order: one outcome per message, and what must be written. */
export function judge<M extends Message>(
  messages: readonly M[],
  locked: Locked,
  { request, isInterim = () => false, now }: Answering<M>,
  decide: (order: LockedOrder, message: M) => Decision,
): { outcomes: Outcome[]; applied: Applied<M>[] } {
  const outcomes = new Map<M, Outcome>();
  const applied: Applied<M>[] = [];
  for (const [orderNumber, answers] of Map.groupBy(messages, (message) => message.value.orderNumber)) {
    const order = locked.orders.get(orderNumber);
    const found = answers.map((message) => {
      const own = exchangeOf(message, order, locked.exchanges, request);
      const answer = isInterim(message) ? 'interim' : 'final';
      const answered = own.exchange && afterAnswer(own.exchange, answer, now, request.interimDeadlineMs);
      return { message, answered, ...own };
    });
    const results = fold(
      order ?? UNKNOWN,
      found.map(({ message, refusal, answered }) => ({
        decide: (current) => ended(decide(current, message), current, message, answered),
        refusal,
        keyed: message.key !== null,
      })),
    );
    for (const [index, { message, exchange, answered }] of found.entries()) {
      const result = results[index] as Folded<LockedOrder>;
      outcomes.set(message, result.kind === 'applied' ? { kind: 'applied' } : result);
      if (result.kind === 'applied' && exchange && answered) applied.push({ message, exchange, answered, ...result });
    }
  }
  return { outcomes: messages.map((message) => outcomes.get(message) as Outcome), applied };
}

/** An order whose answer has come is overdue no longer, unless the answer leaves its exchange so. */
function ended(decision: Decision, order: LockedOrder, message: Message, answered: Answered | undefined): Decision {
  if (decision.kind !== 'applied' || order.overdue === null || answered?.state === 'overdue') return decision;
  const overdue = withoutOverdue(order.overdue, message.correlationId ?? '');
  return { ...decision, change: { overdue, ...decision.change } };
}

/** What the history says of an answer that came when the partner's time was over. */
export const timeliness = (
  { exchange, message: { writtenAt } }: Pick<Applied<Message>, 'exchange' | 'message'>,
  now: Date,
): Pick<OrderEventDetail, 'late' | 'unawaited'> =>
  exchange.state === 'withdrawn'
    ? { unawaited: true }
    : isLate(exchange, writtenAt && writtenAt < now ? writtenAt : now)
      ? { late: true }
      : {};

/** Tells how long the partner took for each. */
export function observe(observer: OrderObserver, applied: readonly Applied<Message>[], now: Date): void {
  for (const { message, type, exchange } of applied) {
    const ms = (message.writtenAt ?? now).getTime() - exchange.openedAt.getTime();
    observer.answered(message.partner, type, Math.max(0, ms) / 1000);
  }
}

/** One of the two. */
interface Found {
  exchange?: Exchange;
  refusal?: Refusal;
}

/** The exchange that a message belongs to, or why it may not speak of its order at all. The texts may reach the partner: another's order is called unknown. */
function exchangeOf(
  message: Message,
  order: LockedOrder | undefined,
  exchanges: ReadonlyMap<string, Exchange>,
  request: AnyContract,
): Found {
  const { orderNumber } = message.value;
  const own = ownExchange(exchanges, message.partner, message.correlationId);
  const refuse = (code: string, detail: string, pointer?: string): Found => ({
    refusal: { kind: 'dead', code, detail, ...(pointer === undefined ? {} : { pointer }) },
  });
  if (!own.ok) return { refusal: own.outcome };
  const { exchange } = own;
  if (!order) return refuse('order-unknown', `There is no order ${orderNumber}.`, '/orderNumber');
  if (exchange.orderNumber !== orderNumber) {
    const detail = `The correlation id belongs to a request about another order than ${orderNumber}.`;
    return refuse('exchange-mismatch', detail, '/orderNumber');
  }
  if (exchange.kind !== request.name) {
    return refuse('exchange-mismatch', `The correlation id belongs to an ${exchange.kind}, not to an ${request.name}.`);
  }
  return { exchange };
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
  overdue: null,
  deadline: new Date(0),
};

/** What the ledger keeps of them. */
export const exchangeAnswersOf = <M extends InboundMessage<{ responseCode: string }>>(
  applied: readonly Applied<M>[],
  at: Date,
): ExchangeAnswer[] =>
  applied.map(({ message, answered, exchange: { correlationId } }) => ({
    correlationId,
    partner: message.partner,
    direction: 'out',
    ...answered,
    messageId: message.id,
    code: message.value.responseCode,
    at,
  }));

/** What the history keeps of the message itself. */
export const causeOf = ({ id, correlationId, topic, partition, offset }: Message) => ({
  id,
  correlationId: correlationId as string,
  topic,
  partition,
  offset,
});
