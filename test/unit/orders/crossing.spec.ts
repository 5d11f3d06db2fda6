import fc from 'fast-check';
import { decideCancellation, requestCancellation } from '../../../src/orders/domain/cancel';
import { decide, type Decision } from '../../../src/orders/domain/decide';
import { fold, type Folding } from '../../../src/orders/domain/fold';
import type { OrderLine, OrderState } from '../../../src/orders/domain/order';
import { SHIPMENT_TRANSITIONS } from '../../../src/orders/domain/transitions';

const now = new Date('2026-02-03T05:00:00.000Z');
const line: OrderLine = { lineNumber: 1, item: 'A', quantity: '2', unit: 'C62', unitPrice: '1' };
const CHANGE = [{ lineNumber: 1, quantity: '1', unitPrice: '1' }];

type FromUs = { kind: 'order' } | { kind: 'cancellation'; id: string };
type Said = { kind: 'response'; code: string } | { kind: 'cancellation-response'; code: string; id: string };
type Despatch = 'partly-shipped' | 'shipped';
/** Takes one of a list, as the run says. */
type Choose = <T>(from: readonly T[]) => T;

/**
 * The other side as a partner may build it: reads its requests in order, decides in a state of its own, and writes its
 * answers in the order in which it decided. Despatches travel on another topic.
 */
class Partner {
  state: OrderState | 'unknown' = 'unknown';
  lastCancellation: 'agreed' | 'refused' | undefined;
  readonly said: Said[] = [];
  readonly despatched: Despatch[] = [];
  private isClosed = false;

  read(message: FromUs, choose: Choose): void {
    if (message.kind === 'order') {
      this.state = 'placed';
      return;
    }
    if (this.state === 'cancelled') throw new Error('asked to cancel what it has cancelled');
    const hasDespatched = this.state === 'partly-shipped' || this.state === 'shipped';
    const code = hasDespatched ? 'RE' : choose(['AP', 'RE']);
    this.lastCancellation = code === 'AP' ? 'agreed' : 'refused';
    if (code === 'AP' && this.state !== 'rejected') this.state = 'cancelled';
    this.said.push({ kind: 'cancellation-response', code, id: message.id });
  }

  get answers(): string[] {
    if (this.state === 'placed' || this.state === 'acknowledged') return ['AB', 'AP', 'RE', 'CA'];
    // It may still close an order that it never answered.
    return this.state === 'cancelled' && !this.isClosed ? ['AB', 'RE'] : [];
  }

  answer(code: string): void {
    if (code !== 'AB') this.isClosed = true;
    if (this.state !== 'cancelled')
      this.state = ({ AB: 'acknowledged', AP: 'accepted', RE: 'rejected', CA: 'changed' } as const)[code] ?? this.state;
    this.said.push({ kind: 'response', code });
  }

  get canDespatch(): boolean {
    return this.state === 'accepted' || this.state === 'changed' || this.state === 'partly-shipped';
  }

  despatch(what: Despatch): void {
    this.state = what;
    this.despatched.push(what);
  }
}

/** Parley's side: the decisions of this room over one order. */
class Parley {
  order: Folding & { lines: OrderLine[] } = {
    orderNumber: '4711',
    state: 'placed',
    version: 1,
    lines: [line],
    agreedLines: null,
    cancellation: null,
    overdue: null,
  };
  readonly refused: string[] = [];
  readonly said: FromUs[] = [{ kind: 'order' }];
  private asked = 0;

  cancel(): void {
    const correlationId = `c-${++this.asked}`;
    const request = requestCancellation(this.order, { correlationId, reason: 'r' }, now);
    if (request.kind === 'refused') return;
    this.order = { ...this.order, cancellation: request.cancellation, version: this.order.version + 1 };
    this.said.push({ kind: 'cancellation', id: correlationId });
  }

  hear(said: Said): void {
    const judged = (order: Parley['order']): Decision =>
      said.kind === 'response'
        ? decide(order, { responseCode: said.code, ...(said.code === 'CA' ? { lines: CHANGE } : {}) })
        : decideCancellation(order, { responseCode: said.code }, said.id, now);
    const [result] = fold(this.order, [{ decide: judged, keyed: true }]);
    if (result?.kind === 'applied') this.order = result.order;
    else this.refused.push(`${said.kind} ${said.code}: ${result?.kind}`);
  }

  isTooEarly = () => SHIPMENT_TRANSITIONS[this.order.state] === 'too-early';

  receive(despatch: Despatch): void {
    if (SHIPMENT_TRANSITIONS[this.order.state] === 'allowed') this.order = { ...this.order, state: despatch };
    else this.refused.push(`despatch while ${this.order.state}`);
  }
}

/** One run: `picks` decides which side moves, which message arrives, and what is answered; then all that is under way arrives. */
function run(picks: readonly number[], take: (said: Said[], choose: Choose) => Said | undefined) {
  const [us, partner] = [new Parley(), new Partner()];
  let turn = 0;
  const choose: Choose = (from) => from[(picks[turn++ % picks.length] ?? 0) % from.length] as (typeof from)[number];
  const hear = () => {
    const said = take(partner.said, choose);
    if (said) us.hear(said);
  };
  const arrivals = () => [
    ...(us.said.length > 0 ? [() => partner.read(us.said.shift() as FromUs, choose)] : []),
    ...(partner.said.length > 0 ? [hear] : []),
    ...(partner.despatched.length > 0 && !us.isTooEarly()
      ? [() => us.receive(partner.despatched.shift() as Despatch)]
      : []),
  ];
  for (let step = 0; step < picks.length && us.refused.length === 0; step++) {
    choose([
      ...arrivals(),
      () => us.cancel(),
      ...partner.answers.map((code) => () => partner.answer(code)),
      ...(partner.canDespatch ? [() => partner.despatch('partly-shipped'), () => partner.despatch('shipped')] : []),
    ])();
  }
  for (let move = arrivals()[0]; move && us.refused.length === 0; move = arrivals()[0]) move();
  return { us, partner };
}

const picks = fc.array(fc.nat(1_000_000), { minLength: 4, maxLength: 40 });
const seen = new Map<string, number>();
const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);

describe('orders, answers, cancellations and despatches that cross each other', () => {
  it('end the same on both sides, whatever the interleaving', () => {
    fc.assert(
      fc.property(picks, (path) => {
        const { us, partner } = run(path, (said) => said.shift());
        expect(us.refused).toEqual([]);
        expect(us.order.state).toBe(partner.state);
        expect(us.order.cancellation?.state).toBe(partner.lastCancellation);
        count(us.order.state);
        if (us.order.cancellation) count(us.order.cancellation.state);
      }),
      { numRuns: 2000 },
    );
    // Otherwise the runs show less than they seem to.
    for (const end of [
      'rejected',
      'accepted',
      'changed',
      'cancelled',
      'partly-shipped',
      'shipped',
      'agreed',
      'refused',
    ])
      expect([end, (seen.get(end) ?? 0) >= 20]).toEqual([end, true]);
  });

  it('never differ unnoticed on whether anything is delivered, even when answers overtake each other', () => {
    const delivers = (state: string) =>
      ({ rejected: 'no', cancelled: 'no', placed: '?', acknowledged: '?' })[state] ?? 'yes';
    fc.assert(
      fc.property(picks, (path) => {
        const anyOf = (said: Said[], choose: Choose) => said.splice(said.indexOf(choose(said)), 1)[0];
        const { us, partner } = run(path, anyOf);
        if (us.refused.length === 0) expect(delivers(us.order.state)).toBe(delivers(partner.state));
      }),
      { numRuns: 2000 },
    );
  });
});
