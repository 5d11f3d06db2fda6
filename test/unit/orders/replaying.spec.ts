import { CANCELLATION_RESPONSE, prospectOf, RESPONSE } from '../../../src/orders/domain/replaying';
import { type Cancellation, ORDER_STATES, type OrderState } from '../../../src/orders/domain/order';

const order = (state: OrderState, cancellation: Cancellation | null = null) => ({
  orderNumber: '1',
  state,
  cancellation,
});
const asked = (state: Cancellation['state'], correlationId = 'c'): Cancellation => ({
  ...{ state, correlationId, reason: 'r', requestedAt: '2026-03-01T10:00:00Z', answeredAt: null, answerReason: null },
});

describe('the prospect of an answer that died', () => {
  it('to an order follows from its state; only of a cancelled one does it rest on the document', () => {
    const prospects = ORDER_STATES.map((state) => [state, prospectOf(RESPONSE, order(state), 'c')]);
    expect(Object.fromEntries(prospects)).toEqual({
      placed: 'fine',
      acknowledged: 'fine',
      accepted: 'contradicts',
      rejected: 'contradicts',
      changed: 'contradicts',
      cancelled: 'depends',
      'partly-shipped': 'contradicts',
      shipped: 'contradicts',
    });
    expect(['AB', 'AP', 'RE', 'CA', 'XX'].map((code) => RESPONSE.refuses(order('cancelled'), 'c', code))).toEqual([
      false,
      true,
      false,
      true,
      false,
    ]);
  });

  it('to a cancellation follows from the cancellation that it names', () => {
    const prospect = (state: OrderState, cancellation: Cancellation | null) =>
      prospectOf(CANCELLATION_RESPONSE, order(state, cancellation), 'c');
    expect(prospect('accepted', asked('requested'))).toBe('fine');
    expect(prospect('accepted', asked('refused'))).toBe('contradicts');
    expect(prospect('accepted', asked('requested', 'another'))).toBe('contradicts');
    expect(prospect('partly-shipped', asked('requested'))).toBe('depends');
    expect(CANCELLATION_RESPONSE.refuses(order('partly-shipped', asked('requested')), 'c', 'AP')).toBe(true);
    expect(CANCELLATION_RESPONSE.refuses(order('partly-shipped', asked('requested')), 'c', 'RE')).toBe(false);
  });
});
