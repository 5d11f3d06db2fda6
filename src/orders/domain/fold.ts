import type { OrderResponse } from '../../contracts';
import { decide, type Decision, type Refusal } from './decide';
import type { Order } from './order';

/** What the handler knows of the order while it decides; `lines` may be empty where no answer changes lines. */
export type Answered = Pick<Order, 'orderNumber' | 'state' | 'version' | 'lines' | 'agreedLines'>;

export interface Answer {
  response: Pick<OrderResponse, 'responseCode' | 'lines'>;
  /** Why it is refused before the order is asked (its exchange is unknown, say). */
  refusal?: Refusal | undefined;
  /** Has the record a key? What has none is never held behind another. */
  keyed: boolean;
}

/** One result per answer: what was decided, with the order after it, or `held` behind an earlier one that was refused. */
export type Folded<O> = { kind: 'applied'; order: O } | Refusal | { kind: 'held' };

/** Applies several answers to one order, in order. After a refused one the later ones of the key are held, so that none overtakes it. */
export function fold<O extends Answered>(order: O, answers: readonly Answer[]): Folded<O>[] {
  let current = order;
  let blocked = false;
  return answers.map(({ response, refusal, keyed }) => {
    if (blocked && keyed) return { kind: 'held' };
    const decision: Decision = refusal ?? decide(current, response);
    if (decision.kind !== 'applied') {
      blocked ||= keyed;
      return decision;
    }
    current = {
      ...current,
      state: decision.state,
      version: current.version + 1,
      agreedLines: decision.agreedLines ?? current.agreedLines,
    };
    return { kind: 'applied', order: current };
  });
}
