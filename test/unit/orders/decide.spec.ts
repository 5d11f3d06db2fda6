import { RESPONSE_CODES, type ResponseCode } from '../../../src/contracts';
import { decide } from '../../../src/orders/domain/decide';
import { ORDER_STATES, type OrderLine, type OrderState } from '../../../src/orders/domain/order';
import { TRANSITIONS } from '../../../src/orders/domain/transitions';

const lines: OrderLine[] = [1, 2, 3].map((lineNumber) => ({
  lineNumber,
  item: `item-${lineNumber}`,
  quantity: '10',
  unit: 'C62',
  unitPrice: '1.50',
}));
const given = (state: OrderState) => ({ orderNumber: '4711', state, lines });
const change = [{ lineNumber: 2, quantity: '123456789012345678.000001', unitPrice: '0.10' }];
const whenIt = (responseCode: ResponseCode) => ({ responseCode, ...(responseCode === 'CA' ? { lines: change } : {}) });

describe('deciding what an answer does to an order', () => {
  const TABLE: [OrderState, ResponseCode, OrderState | 'illegal'][] = [
    ['placed', 'AB', 'acknowledged'],
    ['placed', 'AP', 'accepted'],
    ['placed', 'RE', 'rejected'],
    ['placed', 'CA', 'changed'],
    ['acknowledged', 'AB', 'acknowledged'],
    ['acknowledged', 'AP', 'accepted'],
    ['acknowledged', 'RE', 'rejected'],
    ['acknowledged', 'CA', 'changed'],
    ['cancelled', 'AB', 'cancelled'],
    ['cancelled', 'AP', 'illegal'],
    ['cancelled', 'RE', 'cancelled'],
    ['cancelled', 'CA', 'illegal'],
    ...(['accepted', 'rejected', 'changed', 'partly-shipped', 'shipped'] as const).flatMap((state) =>
      RESPONSE_CODES.map((code): [OrderState, ResponseCode, 'illegal'] => [state, code, 'illegal']),
    ),
  ];

  it.each(TABLE)('given %s, when %s comes, then %s', (state, code, then) => {
    const decision = decide(given(state), whenIt(code));
    if (then === 'illegal') expect(decision).toMatchObject({ kind: 'dead', code: 'illegal-transition' });
    else {
      const type = state === 'cancelled' ? 'answer-noted' : then;
      expect(decision).toMatchObject({ kind: 'applied', type, change: { state: then } });
    }
  });

  it('has a row above for every cell of the table', () => {
    expect(TABLE).toHaveLength(ORDER_STATES.length * RESPONSE_CODES.length);
    expect(Object.fromEntries(ORDER_STATES.map((state) => [state, Object.keys(TRANSITIONS[state]).length]))).toEqual(
      Object.fromEntries(ORDER_STATES.map((state) => [state, RESPONSE_CODES.length])),
    );
  });

  it('asks to try again later where the table says too early', () => {
    const early = { ...TRANSITIONS, placed: { ...TRANSITIONS.placed, AP: 'too-early' as const } };
    expect(decide(given('placed'), { responseCode: 'AP' }, early)).toMatchObject({ kind: 'retry', code: 'too-early' });
  });
});

describe('accepting with change', () => {
  const ca = (...changes: { lineNumber: number; quantity: string; unitPrice: string }[]) =>
    decide(given('placed'), { responseCode: 'CA', lines: changes });

  it('agrees on the ordered lines with the changed ones in their place, digits exact', () => {
    expect(ca(...change)).toEqual({
      kind: 'applied',
      type: 'changed',
      change: {
        state: 'changed',
        agreedLines: [lines[0], { ...lines[1], quantity: '123456789012345678.000001', unitPrice: '0.10' }, lines[2]],
      },
    });
  });

  it.each(['0', '0.0', '0.000000'])('strikes a line of which %s comes', (quantity) => {
    expect(ca({ lineNumber: 2, quantity, unitPrice: '1' })).toMatchObject({
      change: { agreedLines: [lines[0], lines[2]] },
    });
  });

  it('keeps a line of which the smallest part comes', () => {
    expect(ca({ lineNumber: 2, quantity: '0.000001', unitPrice: '1' })).toMatchObject({
      change: { agreedLines: [{ lineNumber: 1 }, { lineNumber: 2 }, { lineNumber: 3 }] },
    });
  });

  it('is dead, with a pointer, when a line is not of the order', () => {
    expect(
      ca({ lineNumber: 1, quantity: '1', unitPrice: '1' }, { lineNumber: 9, quantity: '1', unitPrice: '1' }),
    ).toMatchObject({
      kind: 'dead',
      code: 'line-unknown',
      pointer: '/lines/1/lineNumber',
    });
  });

  it('is dead, with a pointer, when a line is changed twice', () => {
    expect(
      ca({ lineNumber: 1, quantity: '1', unitPrice: '1' }, { lineNumber: 1, quantity: '2', unitPrice: '1' }),
    ).toMatchObject({
      kind: 'dead',
      code: 'line-repeated',
      pointer: '/lines/1/lineNumber',
    });
  });

  it('leaves the order as it was', () => {
    const before = structuredClone(lines);
    ca(...change);
    expect(lines).toEqual(before);
  });
});
