import { CANCELLATION_CODES, type OrderCancellationResponse } from '../../contracts';
import { codeUnknown, type Decision, refusedBy } from './decide';
import type { Cancellation, Order, OrderState } from './order';
import { CANCELLATION_TRANSITIONS } from './transitions';

/** States in which a partner may be asked to cancel: what is closed, or on its way, can't be called off. */
const CANCELLABLE_STATES: readonly OrderState[] = ['placed', 'acknowledged', 'accepted', 'changed'];

/** `refused` is the code of the problem that the caller gets. */
export type Request =
  | { kind: 'requested'; cancellation: Cancellation }
  | { kind: 'refused'; code: 'order-not-cancellable' | 'cancellation-pending'; detail: string };

/** May staff ask for this cancellation now? After a refusal they may ask again, in a new exchange. */
export function requestCancellation(
  order: Pick<Order, 'orderNumber' | 'state' | 'cancellation'>,
  { correlationId, reason }: Pick<Cancellation, 'correlationId' | 'reason'>,
  now: Date,
): Request {
  const { orderNumber, state } = order;
  if (!CANCELLABLE_STATES.includes(state)) {
    const detail = `Order ${orderNumber} is ${state}; that can't be cancelled.`;
    return { kind: 'refused', code: 'order-not-cancellable', detail };
  }
  if (order.cancellation?.state === 'requested') {
    const detail = `The partner has not answered yet whether it cancels order ${orderNumber}.`;
    return { kind: 'refused', code: 'cancellation-pending', detail };
  }
  const requestedAt = now.toISOString();
  return {
    kind: 'requested',
    cancellation: { state: 'requested', correlationId, reason, requestedAt, answeredAt: null, answerReason: null },
  };
}

/** What a partner's answer to the cancellation with this correlation id does to an order. */
export function decideCancellation(
  order: Pick<Order, 'orderNumber' | 'state' | 'cancellation'>,
  response: Pick<OrderCancellationResponse, 'responseCode' | 'reason'>,
  correlationId: string,
  now: Date,
): Decision {
  const code = CANCELLATION_CODES.find((known) => known === response.responseCode);
  if (!code) return codeUnknown(response.responseCode);
  const { cancellation } = order;
  const what = `${code} to the cancellation of order ${order.orderNumber}`;
  if (cancellation?.correlationId !== correlationId) {
    return {
      kind: 'dead',
      code: 'illegal-transition',
      detail: `${what}, which was asked for anew since, is not awaited.`,
    };
  }
  // That staff stopped waiting was told to nobody: the partner's word counts all the same.
  if (cancellation.state !== 'requested' && cancellation.state !== 'withdrawn') {
    return { kind: 'dead', code: 'illegal-transition', detail: `${what}, which was answered before, contradicts it.` };
  }
  const cell = CANCELLATION_TRANSITIONS[order.state][code];
  const refusal = refusedBy(cell, what, order.state);
  if (refusal) return refusal;
  const state = cell as OrderState;
  const answered: Cancellation = {
    ...cancellation,
    state: code === 'AP' ? 'agreed' : 'refused',
    answeredAt: now.toISOString(),
    answerReason: response.reason ?? null,
  };
  const type = code === 'RE' ? 'cancellation-refused' : state === 'cancelled' ? 'cancelled' : 'cancellation-agreed';
  // What is cancelled has nothing left to wait for.
  const over = state === 'cancelled' ? { overdue: null } : {};
  return { kind: 'applied', type, change: { state, cancellation: answered, ...over } };
}
