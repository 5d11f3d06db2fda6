import type { ResponseCode } from '../../contracts';
import type { OrderState } from './order';

/** `illegal`: can never be applied. `too-early`: may be applied once something else has happened. */
export type Cell = OrderState | 'illegal' | 'too-early';

/**
 * What a partner's answer makes of an order. A second interim answer (AB) changes nothing and is no fault: refusing it would
 * hold the final one behind it. After a final answer every other one contradicts it.
 */
export const TRANSITIONS: Readonly<Record<OrderState, Readonly<Record<ResponseCode, Cell>>>> = {
  placed: { AB: 'acknowledged', AP: 'accepted', RE: 'rejected', CA: 'changed' },
  acknowledged: { AB: 'acknowledged', AP: 'accepted', RE: 'rejected', CA: 'changed' },
  accepted: { AB: 'illegal', AP: 'illegal', RE: 'illegal', CA: 'illegal' },
  rejected: { AB: 'illegal', AP: 'illegal', RE: 'illegal', CA: 'illegal' },
  changed: { AB: 'illegal', AP: 'illegal', RE: 'illegal', CA: 'illegal' },
};
