import { type OrderResponse, type OrderResponseLine, RESPONSE_CODES, type ResponseCode } from '../../contracts';
import type { Order, OrderLine, OrderState } from './order';
import { type Cell, TRANSITIONS } from './transitions';

export type Refusal =
  { kind: 'dead'; code: string; detail: string; pointer?: string } | { kind: 'retry'; code: string; detail: string };

export type Decision = { kind: 'applied'; state: OrderState; agreedLines: OrderLine[] | null } | Refusal;

/** What a partner's answer does to an order. `transitions` is the table; it is an argument so that every kind of cell can be tried. */
export function decide(
  order: Pick<Order, 'orderNumber' | 'state' | 'lines'>,
  response: Pick<OrderResponse, 'responseCode' | 'lines'>,
  transitions: Readonly<Record<OrderState, Readonly<Record<ResponseCode, Cell>>>> = TRANSITIONS,
): Decision {
  const code = RESPONSE_CODES.find((known) => known === response.responseCode);
  if (!code) {
    const detail = `No answer with the code ${response.responseCode} is known here.`;
    return { kind: 'dead', code: 'response-code-unknown', detail, pointer: '/responseCode' };
  }
  const cell = transitions[order.state][code];
  const situation = `${response.responseCode} for order ${order.orderNumber}, which is ${order.state}`;
  if (cell === 'illegal') return { kind: 'dead', code: 'illegal-transition', detail: `${situation}, contradicts it.` };
  if (cell === 'too-early') return { kind: 'retry', code: 'too-early', detail: `${situation}, comes too early.` };
  if (response.responseCode !== 'CA') return { kind: 'applied', state: cell, agreedLines: null };
  return agree(order, response.lines ?? [], cell);
}

/** The ordered lines with the partner's quantities and prices; quantity 0 strikes a line. */
function agree(
  order: Pick<Order, 'orderNumber' | 'lines'>,
  changes: readonly OrderResponseLine[],
  state: OrderState,
): Decision {
  const agreed = new Map(order.lines.map((line) => [line.lineNumber, line]));
  const seen = new Set<number>();
  for (const [index, { lineNumber, quantity, unitPrice }] of changes.entries()) {
    const pointer = `/lines/${index}/lineNumber`;
    const ordered = agreed.get(lineNumber);
    if (seen.has(lineNumber)) {
      return { kind: 'dead', code: 'line-repeated', detail: `Line ${lineNumber} is changed twice.`, pointer };
    }
    if (!ordered) {
      return {
        kind: 'dead',
        code: 'line-unknown',
        detail: `Order ${order.orderNumber} has no line ${lineNumber}.`,
        pointer,
      };
    }
    seen.add(lineNumber);
    agreed.set(lineNumber, { ...ordered, quantity, unitPrice });
  }
  return { kind: 'applied', state, agreedLines: [...agreed.values()].filter((line) => !isZero(line.quantity)) };
}

const isZero = (decimal: string): boolean => /^0(\.0+)?$/.test(decimal);
