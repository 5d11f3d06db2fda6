import type { CancellationCode, ResponseCode } from '../../contracts';
import type { OrderState } from './order';

/** `illegal`: can never be applied. `too-early`: may be applied once something else has happened. */
export type Cell = OrderState | 'illegal' | 'too-early';

const ALL_ILLEGAL = { AB: 'illegal', AP: 'illegal', RE: 'illegal', CA: 'illegal' } as const;

/**
 * What a partner's answer makes of an order. A second interim answer (AB) changes nothing and is no fault: refusing it would
 * hold the final one behind it. After a final answer every other one contradicts it. Who has agreed to a cancellation may
 * still close the order itself as it likes (AB, RE), but can't promise to deliver it any more.
 */
export const TRANSITIONS: Readonly<Record<OrderState, Readonly<Record<ResponseCode, Cell>>>> = {
  placed: { AB: 'acknowledged', AP: 'accepted', RE: 'rejected', CA: 'changed' },
  acknowledged: { AB: 'acknowledged', AP: 'accepted', RE: 'rejected', CA: 'changed' },
  accepted: ALL_ILLEGAL,
  rejected: ALL_ILLEGAL,
  changed: ALL_ILLEGAL,
  cancelled: { AB: 'cancelled', AP: 'illegal', RE: 'cancelled', CA: 'illegal' },
  'partly-shipped': ALL_ILLEGAL,
  shipped: ALL_ILLEGAL,
};

/**
 * What a partner's answer to our cancellation makes of an order: AP nothing will be delivered, RE it stands as it was. In
 * `rejected` there is nothing left to cancel: either answer only closes the exchange. Who has despatched must refuse.
 */
export const CANCELLATION_TRANSITIONS: Readonly<Record<OrderState, Readonly<Record<CancellationCode, Cell>>>> = {
  placed: { AP: 'cancelled', RE: 'placed' },
  acknowledged: { AP: 'cancelled', RE: 'acknowledged' },
  accepted: { AP: 'cancelled', RE: 'accepted' },
  rejected: { AP: 'rejected', RE: 'rejected' },
  changed: { AP: 'cancelled', RE: 'changed' },
  cancelled: { AP: 'illegal', RE: 'illegal' },
  'partly-shipped': { AP: 'illegal', RE: 'partly-shipped' },
  shipped: { AP: 'illegal', RE: 'shipped' },
};

/** `too-early`: the answer to the order is still on its way, on another topic. `refused` with the code that our receipt names. */
export type ShipmentCell = 'allowed' | 'too-early' | { readonly refused: string };

/**
 * Whether a partner may despatch (more) of an order. While a cancellation waits for its answer it may: then it must refuse that.
 * Of a shipped order every line is full, so that whatever comes is over-delivery, and the receipt can say by how much.
 */
export const SHIPMENT_TRANSITIONS: Readonly<Record<OrderState, ShipmentCell>> = {
  placed: 'too-early',
  acknowledged: 'too-early',
  accepted: 'allowed',
  rejected: { refused: 'order-closed' },
  changed: 'allowed',
  cancelled: { refused: 'order-closed' },
  'partly-shipped': 'allowed',
  shipped: 'allowed',
};
