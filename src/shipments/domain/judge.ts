import type { Order, OrderState, ShipmentCell } from '../../orders';
import { decide, type Despatched } from './decide';
import { type Despatch, isSameDespatch } from './shipment';

/** A despatch advice as it is judged. */
export interface Advice {
  messageId: string;
  despatch: Despatch;
  /** Of the exchange that the partner begins with it. */
  correlationId: string | undefined;
  /** Why it can't be judged at all. */
  refusal?: Dead | undefined;
  /** Has the record a key? What has none is never held behind another. */
  keyed: boolean;
}

/** A despatch that was recorded, and when its receipt was issued. */
export interface Recorded {
  despatch: Despatch;
  recordedAt: Date;
}

/** An exchange that the partner began, with the code of our last answer. */
export interface Asked {
  orderNumber: string;
  kind: string;
  code: string | null;
}

/** An exchange that this batch opened, or answered anew. */
export interface Answered extends Asked {
  code: 'AP' | 'RE';
  /** Message ids of the first advice in this batch and of the one that was answered last. */
  requestMessageId: string;
  answeredMessageId: string;
}

export type Judged = Pick<Order, 'orderNumber' | 'state' | 'version' | 'lines' | 'agreedLines'>;

/** What is known when a batch comes: its orders, what was despatched of them, what its numbers and correlation ids stand for. */
export interface Known<O extends Judged> {
  orders: ReadonlyMap<string, O>;
  despatched: ReadonlyMap<string, Despatched>;
  recorded: ReadonlyMap<string, Recorded>;
  asked: ReadonlyMap<string, Asked>;
}

export interface Dead {
  kind: 'dead';
  code: string;
  detail: string;
  pointer?: string;
}

/**
 * `despatched` recorded, `refused` answered with RE; both are a step of the order, as it is then. `repeated` says again what
 * the receipt of the same despatch said.
 */
export type Verdict<O extends Judged> =
  | { kind: 'despatched'; order: O }
  | { kind: 'refused'; order: O; code: string; reason: string }
  | { kind: 'repeated'; first: Recorded }
  | { kind: 'retry'; code: string; detail: string }
  | Dead
  | { kind: 'held' };

export interface Judgement<O extends Judged> {
  /** One per advice, in order. */
  verdicts: Verdict<O>[];
  /** By correlation id. */
  answered: ReadonlyMap<string, Answered>;
}

/** Judges a batch in order: each advice sees the effect of those before it, and none overtakes one of its key that waits or is dead. */
export function judge<O extends Judged>(
  advices: readonly Advice[],
  known: Known<O>,
  kind: string,
  transitions: Readonly<Record<OrderState, ShipmentCell>>,
  now: Date,
): Judgement<O> {
  const batch = new Judge(known, kind, transitions, now);
  return { verdicts: advices.map((advice) => batch.next(advice)), answered: batch.answered };
}

class Judge<O extends Judged> {
  readonly answered = new Map<string, Answered>();
  private readonly orders: Map<string, O>;
  private readonly despatched: Map<string, Despatched>;
  private readonly recorded: Map<string, Recorded>;
  private readonly blocked = new Set<string>();

  constructor(
    private readonly known: Known<O>,
    private readonly kind: string,
    private readonly transitions: Readonly<Record<OrderState, ShipmentCell>>,
    private readonly now: Date,
  ) {
    this.orders = new Map(known.orders);
    this.despatched = new Map(known.despatched);
    this.recorded = new Map(known.recorded);
  }

  next(advice: Advice): Verdict<O> {
    const { orderNumber } = advice.despatch;
    if (advice.keyed && this.blocked.has(orderNumber)) return { kind: 'held' };
    const verdict = this.verdictOn(advice);
    if (verdict.kind === 'dead' || verdict.kind === 'retry') {
      if (advice.keyed) this.blocked.add(orderNumber);
    } else {
      this.answer(advice, verdict.kind === 'refused' ? 'RE' : 'AP');
    }
    return verdict;
  }

  private verdictOn(advice: Advice): Verdict<O> {
    const { despatch } = advice;
    const { orderNumber, despatchNumber } = despatch;
    const order = this.orders.get(orderNumber);
    const dead = advice.refusal ?? (order ? this.correlationFault(advice) : unknown(orderNumber));
    if (dead || !order) return dead ?? unknown(orderNumber);
    const first = this.recorded.get(despatchNumber);
    if (first && isSameDespatch(first.despatch, despatch)) return { kind: 'repeated', first };
    if (first) {
      const reason = `Despatch ${despatchNumber} was recorded before with other content.`;
      return this.refuse(order, 'despatch-number-reused', reason);
    }
    const before = this.despatched.get(orderNumber) ?? new Map<number, bigint>();
    const decision = decide(order, before, despatch.lines, this.transitions[order.state]);
    if (decision.kind === 'refused') return this.refuse(order, decision.code, decision.reason);
    if (decision.kind === 'retry') return decision;
    this.despatched.set(orderNumber, decision.despatched);
    this.recorded.set(despatchNumber, { despatch, recordedAt: this.now });
    return { kind: 'despatched', order: this.step({ ...order, state: decision.state }) };
  }

  private refuse(order: O, code: string, reason: string): Verdict<O> {
    return { kind: 'refused', order: this.step(order), code, reason };
  }

  private step(order: O): O {
    const after = { ...order, version: order.version + 1 };
    this.orders.set(order.orderNumber, after);
    return after;
  }

  /**
   * A correlation id stands for one exchange. It may come again with another attempt while the exchange has recorded nothing
   * (its answer is RE), and with what was recorded already: neither makes it stand for two despatches.
   */
  private correlationFault({ correlationId, despatch }: Advice): Dead | undefined {
    if (correlationId === undefined) {
      return { kind: 'dead', code: 'correlation-missing', detail: 'The message names no exchange.' };
    }
    const asked = this.exchange(correlationId);
    if (!asked) return undefined;
    const { orderNumber, despatchNumber } = despatch;
    const isRecorded = this.recorded.get(despatchNumber)?.despatch.orderNumber === orderNumber;
    if (asked.kind === this.kind && asked.orderNumber === orderNumber && (asked.code === 'RE' || isRecorded)) {
      return undefined;
    }
    return {
      kind: 'dead',
      code: 'correlation-reused',
      detail: 'The correlation id stands for another exchange that was begun with it.',
    };
  }

  /** What is recorded stays the exchange's answer, whatever is asked again. */
  private answer({ correlationId, messageId, despatch }: Advice, code: 'AP' | 'RE'): void {
    if (correlationId === undefined || this.exchange(correlationId)?.code === 'AP') return;
    const requestMessageId = this.answered.get(correlationId)?.requestMessageId ?? messageId;
    const { orderNumber } = despatch;
    this.answered.set(correlationId, {
      orderNumber,
      kind: this.kind,
      code,
      requestMessageId,
      answeredMessageId: messageId,
    });
  }

  private exchange(correlationId: string): Asked | undefined {
    return this.answered.get(correlationId) ?? this.known.asked.get(correlationId);
  }
}

/** Another partner's order is called unknown too: the text may reach the partner. */
const unknown = (orderNumber: string): Dead => ({
  kind: 'dead',
  code: 'order-unknown',
  detail: `There is no order ${orderNumber}.`,
  pointer: '/orderNumber',
});
