import type { DespatchAdviceLine } from '../../contracts';
import type { Order, OrderState, ShipmentCell } from '../../orders';
import { decimalOf, millionthsOf } from './quantity';

/** What was despatched so far of an order: millionths by line. */
export type Despatched = ReadonlyMap<number, bigint>;

/** `refused` is answered with a receipt and is no fault of the record; `retry` waits for the answer to the order. */
export type Decision =
  | { kind: 'despatched'; state: OrderState & ('partly-shipped' | 'shipped'); despatched: Despatched }
  | { kind: 'refused'; code: string; reason: string }
  | { kind: 'retry'; code: 'too-early'; detail: string };

/** Most lines that one reason names: it is for people, and the receipt bounds it. */
const MOST_NAMED = 10;

/** What a despatch does to an order, as a whole: all of its lines or none. `cell` is what the order's state allows. */
export function decide(
  order: Pick<Order, 'orderNumber' | 'state' | 'lines' | 'agreedLines'>,
  before: Despatched,
  lines: readonly DespatchAdviceLine[],
  cell: ShipmentCell,
): Decision {
  const situation = `Order ${order.orderNumber} is ${order.state}`;
  if (cell === 'too-early')
    return { kind: 'retry', code: 'too-early', detail: `${situation}: a despatch is too early.` };
  if (cell !== 'allowed') return { kind: 'refused', code: cell.refused, reason: `${situation}.` };
  const agreed = new Map(
    (order.agreedLines ?? order.lines).map(({ lineNumber, quantity }) => [lineNumber, millionthsOf(quantity)]),
  );
  const despatched = new Map(before);
  const seen = new Set<number>();
  const tooMuch: string[] = [];
  for (const { lineNumber, quantity } of lines) {
    const most = agreed.get(lineNumber);
    if (most === undefined) {
      return refused('line-unknown', `Line ${lineNumber} is not among the agreed lines of order ${order.orderNumber}.`);
    }
    if (seen.has(lineNumber)) return refused('line-repeated', `Line ${lineNumber} stands in the despatch twice.`);
    seen.add(lineNumber);
    const [earlier, now] = [before.get(lineNumber) ?? 0n, millionthsOf(quantity)];
    despatched.set(lineNumber, earlier + now);
    if (earlier + now > most) tooMuch.push(overDelivery(lineNumber, most, earlier, now));
  }
  if (tooMuch.length > 0) {
    const more = tooMuch.length > MOST_NAMED ? ` And ${tooMuch.length - MOST_NAMED} more lines.` : '';
    return refused('over-delivery', tooMuch.slice(0, MOST_NAMED).join(' ') + more);
  }
  const isWhole = [...agreed].every(([lineNumber, most]) => (despatched.get(lineNumber) ?? 0n) === most);
  return { kind: 'despatched', state: isWhole ? 'shipped' : 'partly-shipped', despatched };
}

const refused = (code: string, reason: string): Decision => ({ kind: 'refused', code, reason });

const overDelivery = (lineNumber: number, agreed: bigint, earlier: bigint, now: bigint): string =>
  `Line ${lineNumber}: ${decimalOf(agreed)} agreed, ${decimalOf(earlier)} despatched before, ${decimalOf(now)} in this despatch.`;
