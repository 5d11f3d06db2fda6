import { type OrderResponse, type OrderResponseLine, RESPONSE_CODES, type ResponseCode } from '../../contracts';
import type { Order, OrderLine, OrderState, StepType } from './order';
import { type Cell, TRANSITIONS } from './transitions';

export type Refusal =
  { kind: 'dead'; code: string; detail: string; pointer?: string } | { kind: 'retry'; code: string; detail: string };

/** `type`: what the step is called in the order's history; `change`: what is different after it, beside the version. */
export type Decision =
  | {
      kind: 'applied';
      type: StepType;
      change: Partial<Pick<Order, 'state' | 'agreedLines' | 'cancellation' | 'overdue'>>;
    }
  | Refusal;

/** What a partner's answer does to an order. `transitions` is the table; it is an argument so that every kind of cell can be tried. */
export function decide(
  order: Pick<Order, 'orderNumber' | 'state' | 'lines'>,
  response: Pick<OrderResponse, 'responseCode' | 'lines'>,
  transitions: Readonly<Record<OrderState, Readonly<Record<ResponseCode, Cell>>>> = TRANSITIONS,
): Decision {
  const code = RESPONSE_CODES.find((known) => known === response.responseCode);
  if (!code) return codeUnknown(response.responseCode);
  const cell = transitions[order.state][code];
  const refusal = refusedBy(cell, `${code} for order ${order.orderNumber}`, order.state);
  if (refusal) return refusal;
  const state = cell as OrderState;
  if (code === 'CA') return agree(order, response.lines ?? [], state);
  return { kind: 'applied', type: order.state === 'cancelled' ? 'answer-noted' : state, change: { state } };
}

/** What a cell of a table refuses, in words; undefined where it names a state. */
export function refusedBy(cell: Cell, what: string, state: OrderState): Refusal | undefined {
  const situation = `${what}, which is ${state}`;
  if (cell === 'illegal') return { kind: 'dead', code: 'illegal-transition', detail: `${situation}, contradicts it.` };
  if (cell === 'too-early') return { kind: 'retry', code: 'too-early', detail: `${situation}, comes too early.` };
  return undefined;
}

export const codeUnknown = (code: string): Refusal => ({
  kind: 'dead',
  code: 'response-code-unknown',
  detail: `No answer with the code ${code} is known here.`,
  pointer: '/responseCode',
});

/** The ordered lines with the partner's quantities and prices; quantity 0 strikes a line. */
function agree(
  order: Pick<Order, 'orderNumber' | 'lines'>,
  changes: readonly OrderResponseLine[],
  state: OrderState,
): Decision {
  const agreed = new Map<number, OrderLine>(order.lines.map((line) => [line.lineNumber, line]));
  const seen = new Set<number>();
  for (const [index, { lineNumber, quantity, unitPrice }] of changes.entries()) {
    const pointer = `/lines/${index}/lineNumber`;
    const ordered = agreed.get(lineNumber);
    if (seen.has(lineNumber)) {
      return { kind: 'dead', code: 'line-repeated', detail: `Line ${lineNumber} is changed twice.`, pointer };
    }
    if (!ordered) {
      const detail = `Order ${order.orderNumber} has no line ${lineNumber}.`;
      return { kind: 'dead', code: 'line-unknown', detail, pointer };
    }
    seen.add(lineNumber);
    agreed.set(lineNumber, { ...ordered, quantity, unitPrice });
  }
  const agreedLines = [...agreed.values()].filter((line) => !isZero(line.quantity));
  return { kind: 'applied', type: state, change: { state, agreedLines } };
}

const isZero = (decimal: string): boolean => /^0(\.0+)?$/.test(decimal);
