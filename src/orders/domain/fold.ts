import type { Decision, Refusal } from './decide';
import type { Order, StepType } from './order';

/** What is folded over: an order as far as its decisions need it. */
export type Folding = Pick<Order, 'orderNumber' | 'state' | 'version' | 'agreedLines' | 'cancellation' | 'overdue'>;

export interface Answer<O> {
  decide: (order: O) => Decision;
  /** Why it is refused before the order is asked (its exchange is unknown, say). */
  refusal?: Refusal | undefined;
  /** Has the record a key? What has none is never held behind another. */
  keyed: boolean;
}

/** One result per answer: what was decided, with the order after it, or `held` behind an earlier one that was refused. */
export type Folded<O> = { kind: 'applied'; type: StepType; order: O } | Refusal | { kind: 'held' };

/** Applies several answers to one order, in order. After a refused one the later ones of the key are held, so that none overtakes it. */
export function fold<O extends Folding>(order: O, answers: readonly Answer<O>[]): Folded<O>[] {
  let current = order;
  let blocked = false;
  return answers.map(({ decide, refusal, keyed }) => {
    if (blocked && keyed) return { kind: 'held' };
    const decision = refusal ?? decide(current);
    if (decision.kind !== 'applied') {
      blocked ||= keyed;
      return decision;
    }
    current = { ...current, ...decision.change, version: current.version + 1 };
    return { kind: 'applied', type: decision.type, order: current };
  });
}
