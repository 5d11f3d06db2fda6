import type { Wish } from './behaviour';

/** What was written down of an order before a restart. */
export type Recalled =
  | { kind: 'despatching'; partner: string; order: string }
  | { kind: 'cancelling'; partner: string; order: string; decision: Wish };

/**
 * What the partner has promised of its orders, so that it never contradicts itself: what it has despatched of is not
 * cancelled, what it agreed to cancel is neither accepted nor despatched any more.
 *
 * Of an order that has nothing on its way, all was written: whether it was despatched then follows from its behaviour, also
 * after a restart. What a kill in the middle of an order would make it forget, the journal tells ({@link recall}).
 */
export class OrderBook {
  private readonly cancelled = new Set<string>();
  /** With something of it on its way, by order: how many messages are still to be written. */
  private readonly open = new Map<string, number>();
  private readonly despatched = new Set<string>();

  recall(line: Recalled): void {
    const order = nameOf(line.partner, line.order);
    if (line.kind === 'despatching') this.despatched.add(order);
    else if (line.decision === 'agree') this.cancelled.add(order);
  }

  isCancelled(partner: string, order: string): boolean {
    return this.cancelled.has(nameOf(partner, order));
  }

  /** So many messages of the order are going to be written, or withdrawn; {@link written} is told of each. */
  opened(partner: string, order: string, messages: number): void {
    const name = nameOf(partner, order);
    if (messages > 0) this.open.set(name, (this.open.get(name) ?? 0) + messages);
  }

  written(partner: string, order: string): void {
    const name = nameOf(partner, order);
    const left = (this.open.get(name) ?? 0) - 1;
    if (left > 0) this.open.set(name, left);
    else this.open.delete(name);
  }

  /** Goods leave: from here on it is too late to cancel. */
  despatching(partner: string, order: string): void {
    this.despatched.add(nameOf(partner, order));
  }

  /** The partner's word on a cancellation, the same however often it is asked; an agreement holds from here on. */
  decide(partner: string, order: string, wish: Wish, despatchesGoods: boolean): { decision: Wish; why?: string } {
    const name = nameOf(partner, order);
    if (this.cancelled.has(name)) return { decision: 'agree' };
    // Before goods are looked at, which leave meanwhile: asked again, it would say the same for another reason, under the same message id.
    if (wish === 'refuse') return { decision: 'refuse', why: 'Already being made.' };
    if (this.despatched.has(name) || (despatchesGoods && !this.open.has(name)))
      return { decision: 'refuse', why: 'Already on its way.' };
    this.cancelled.add(name);
    return { decision: 'agree' };
  }
}

const nameOf = (partner: string, order: string): string => `${partner}/${order}`;
