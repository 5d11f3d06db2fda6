import { CANCELLATION_CODES, type CancellationCode } from '../../../src/contracts';
import { decideCancellation, requestCancellation } from '../../../src/orders/domain/cancel';
import { type Cancellation, ORDER_STATES, type OrderState } from '../../../src/orders/domain/order';
import { CANCELLATION_TRANSITIONS } from '../../../src/orders/domain/transitions';

const now = new Date('2026-02-03T05:00:00.000Z');
const later = new Date('2026-02-03T05:01:00.000Z');
const requested: Cancellation = {
  state: 'requested',
  correlationId: 'c-2',
  reason: 'ordered twice',
  requestedAt: now.toISOString(),
  answeredAt: null,
  answerReason: null,
};
const given = (state: OrderState, cancellation: Cancellation | null = requested) => ({
  orderNumber: '4711',
  state,
  cancellation,
});

describe('asking for a cancellation', () => {
  const asked = { correlationId: 'c-2', reason: 'ordered twice' };
  const CANCELLABLE: readonly OrderState[] = ['placed', 'acknowledged', 'accepted', 'changed'];

  it.each(ORDER_STATES)('given %s is taken or refused as the state says', (state) => {
    const request = requestCancellation(given(state, null), asked, now);
    if (CANCELLABLE.includes(state)) expect(request).toEqual({ kind: 'requested', cancellation: requested });
    else expect(request).toMatchObject({ kind: 'refused', code: 'order-not-cancellable' });
  });

  it('is refused while one waits for its answer', () => {
    expect(requestCancellation(given('accepted'), asked, now)).toMatchObject({ code: 'cancellation-pending' });
  });

  it('is taken again after a refusal, with nothing left of the one before', () => {
    const refused: Cancellation = {
      ...requested,
      state: 'refused',
      correlationId: 'c-1',
      answeredAt: now.toISOString(),
      answerReason: 'too late',
    };
    expect(requestCancellation(given('accepted', refused), asked, now)).toEqual({
      kind: 'requested',
      cancellation: requested,
    });
  });
});

describe("deciding what a partner's answer to a cancellation does", () => {
  const TABLE: [OrderState, CancellationCode, OrderState | 'illegal', string][] = [
    ['placed', 'AP', 'cancelled', 'cancelled'],
    ['placed', 'RE', 'placed', 'cancellation-refused'],
    ['acknowledged', 'AP', 'cancelled', 'cancelled'],
    ['acknowledged', 'RE', 'acknowledged', 'cancellation-refused'],
    ['accepted', 'AP', 'cancelled', 'cancelled'],
    ['accepted', 'RE', 'accepted', 'cancellation-refused'],
    ['changed', 'AP', 'cancelled', 'cancelled'],
    ['changed', 'RE', 'changed', 'cancellation-refused'],
    ['rejected', 'AP', 'rejected', 'cancellation-agreed'],
    ['rejected', 'RE', 'rejected', 'cancellation-refused'],
    ['cancelled', 'AP', 'illegal', ''],
    ['cancelled', 'RE', 'illegal', ''],
    ['partly-shipped', 'AP', 'illegal', ''],
    ['partly-shipped', 'RE', 'partly-shipped', 'cancellation-refused'],
    ['shipped', 'AP', 'illegal', ''],
    ['shipped', 'RE', 'shipped', 'cancellation-refused'],
  ];

  it.each(TABLE)('given %s, when %s comes, then %s', (state, responseCode, then, type) => {
    const decision = decideCancellation(given(state), { responseCode, reason: 'as you wish' }, 'c-2', later);
    if (then === 'illegal') expect(decision).toMatchObject({ kind: 'dead', code: 'illegal-transition' });
    else
      expect(decision).toEqual({
        kind: 'applied',
        type,
        change: {
          state: then,
          cancellation: {
            ...requested,
            state: responseCode === 'AP' ? 'agreed' : 'refused',
            answeredAt: later.toISOString(),
            answerReason: 'as you wish',
          },
          ...(then === 'cancelled' ? { overdue: null } : {}),
        },
      });
  });

  it('has a row above for every cell of the table', () => {
    expect(TABLE).toHaveLength(ORDER_STATES.length * CANCELLATION_CODES.length);
    for (const state of ORDER_STATES)
      expect(Object.keys(CANCELLATION_TRANSITIONS[state]).toSorted()).toEqual([...CANCELLATION_CODES].toSorted());
  });

  it('is dead, with a pointer, for a code that a newer contract may know', () => {
    expect(decideCancellation(given('placed'), { responseCode: 'CA' }, 'c-2', later)).toMatchObject({
      kind: 'dead',
      code: 'response-code-unknown',
      pointer: '/responseCode',
    });
  });

  it.each(['AP', 'RE'])('is dead when %s answers a cancellation that was answered before', (responseCode) => {
    for (const answered of ['agreed', 'refused'] as const) {
      const order = given('accepted', { ...requested, state: answered });
      expect(decideCancellation(order, { responseCode }, 'c-2', later)).toMatchObject({ code: 'illegal-transition' });
    }
  });

  it.each(['AP', 'RE'])('lets %s count though staff had stopped waiting for it', (responseCode) => {
    const order = given('accepted', { ...requested, state: 'withdrawn' });
    expect(decideCancellation(order, { responseCode }, 'c-2', later)).toMatchObject({
      kind: 'applied',
      change: { cancellation: { state: responseCode === 'AP' ? 'agreed' : 'refused' } },
    });
  });

  it('is dead when it answers an earlier cancellation than the one that waits', () => {
    expect(decideCancellation(given('accepted'), { responseCode: 'AP' }, 'c-1', later)).toMatchObject({
      code: 'illegal-transition',
    });
    expect(decideCancellation(given('accepted', null), { responseCode: 'AP' }, 'c-1', later)).toMatchObject({
      code: 'illegal-transition',
    });
  });
});
