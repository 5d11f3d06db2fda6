import fc from 'fast-check';
import type { OrderLine, OrderState } from '../../../src/orders/domain/order';
import { SHIPMENT_TRANSITIONS } from '../../../src/orders/domain/transitions';
import { decide, type Despatched } from '../../../src/shipments/domain/decide';
import { decimalOf, millionthsOf } from '../../../src/shipments/domain/quantity';

const line = (lineNumber: number, quantity: string): OrderLine => ({
  ...{ lineNumber, quantity },
  ...{ item: `item-${lineNumber}`, unit: 'C62', unitPrice: '1.50' },
});
const ORDERED = [line(1, '12.5'), line(2, '3')];
const NOTHING: Despatched = new Map();

const decideIn = (
  state: OrderState,
  lines: { lineNumber: number; quantity: string }[],
  before = NOTHING,
  agreedLines: OrderLine[] | null = null,
) => decide({ orderNumber: '4711', state, lines: ORDERED, agreedLines }, before, lines, SHIPMENT_TRANSITIONS[state]);

const ALL = ORDERED.map(({ lineNumber, quantity }) => ({ lineNumber, quantity }));
const PART = [{ lineNumber: 1, quantity: '12' }];

describe('deciding what a despatch does to an order', () => {
  const early = { kind: 'retry', code: 'too-early' };
  const closed = { kind: 'refused', code: 'order-closed' };
  it.each([
    ['placed', PART, early],
    ['acknowledged', PART, early],
    ['accepted', PART, { kind: 'despatched', state: 'partly-shipped' }],
    ['accepted', ALL, { kind: 'despatched', state: 'shipped' }],
    ['changed', PART, { kind: 'despatched', state: 'partly-shipped' }],
    ['changed', ALL, { kind: 'despatched', state: 'shipped' }],
    ['partly-shipped', PART, { kind: 'despatched', state: 'partly-shipped' }],
    ['partly-shipped', ALL, { kind: 'despatched', state: 'shipped' }],
    ['rejected', PART, { ...closed, reason: 'Order 4711 is rejected.' }],
    ['cancelled', PART, { ...closed, reason: 'Order 4711 is cancelled.' }],
  ] as const)('given %s, when %j comes, then %j', (state, lines, then) => {
    expect(decideIn(state, [...lines])).toMatchObject(then);
  });

  it('refuses whatever comes of a shipped order, with the numbers', () => {
    const before = new Map(ALL.map(({ lineNumber, quantity }) => [lineNumber, millionthsOf(quantity)]));
    expect(decideIn('shipped', [{ lineNumber: 1, quantity: '1' }], before)).toEqual({
      kind: 'refused',
      code: 'over-delivery',
      reason: 'Line 1: 12.5 agreed, 12.5 despatched before, 1 in this despatch.',
    });
  });

  it('refuses the whole despatch for the smallest part too much of one line', () => {
    const before = new Map([[1, millionthsOf('12.499999')]]);
    expect(decideIn('partly-shipped', [{ lineNumber: 1, quantity: '0.000001' }], before)).toMatchObject({
      kind: 'despatched',
    });
    const lines = [
      { lineNumber: 2, quantity: '3' },
      { lineNumber: 1, quantity: '0.000002' },
    ];
    expect(decideIn('partly-shipped', lines, before)).toEqual({
      kind: 'refused',
      code: 'over-delivery',
      reason: 'Line 1: 12.5 agreed, 12.499999 despatched before, 0.000002 in this despatch.',
    });
  });

  it('refuses a line that is not agreed, and one that comes twice', () => {
    expect(decideIn('accepted', [...PART, { lineNumber: 9, quantity: '1' }])).toMatchObject({
      kind: 'refused',
      code: 'line-unknown',
      reason: expect.stringContaining('Line 9') as string,
    });
    expect(decideIn('accepted', [...PART, { lineNumber: 1, quantity: '0.5' }])).toMatchObject({
      kind: 'refused',
      code: 'line-repeated',
    });
  });

  it('measures by the lines that the partner agreed to where it changed them', () => {
    const agreed = [line(1, '2')];
    expect(decideIn('changed', [{ lineNumber: 1, quantity: '2' }], NOTHING, agreed)).toMatchObject({
      state: 'shipped',
    });
    expect(decideIn('changed', [{ lineNumber: 1, quantity: '2.000001' }], NOTHING, agreed)).toMatchObject({
      code: 'over-delivery',
    });
    expect(decideIn('changed', [{ lineNumber: 2, quantity: '1' }], NOTHING, agreed)).toMatchObject({
      code: 'line-unknown',
    });
  });

  it('names a bounded number of lines in a reason, and how many more there are', () => {
    const many = Array.from({ length: 1000 }, (_, n) => line(n + 1, '999999999999999999.999999'));
    const despatch = many.map(({ lineNumber }) => ({ lineNumber, quantity: '999999999999999999.999999' }));
    const before = new Map(many.map(({ lineNumber }) => [lineNumber, millionthsOf('999999999999999999.999999')]));
    const order = { orderNumber: '4711', state: 'partly-shipped', lines: many, agreedLines: null } as const;
    const decision = decide({ ...order }, before, despatch, 'allowed');
    expect(decision).toMatchObject({ reason: expect.stringMatching(/ And 990 more lines\.$/) as string });
    expect(decision.kind === 'refused' && decision.reason.length).toBeLessThan(2000);
  });
});

describe('despatches in any order and split', () => {
  const quantities = fc.bigInt({ min: 1n, max: 10n ** 24n - 1n });
  const orders = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 9 }), quantities), {
    ...{ minLength: 1, maxLength: 5 },
    selector: ([lineNumber]) => lineNumber,
  });
  const wishes = fc.array(
    fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 1.2, noNaN: true })), {
      ...{ minLength: 1, maxLength: 4 },
      selector: ([lineNumber]) => lineNumber,
    }),
    { maxLength: 25 },
  );

  it('never add up to more than was agreed, and make the order shipped exactly when they are equal', () => {
    fc.assert(
      fc.property(orders, wishes, (ordered, despatches) => {
        const agreed = new Map(ordered);
        const lines = ordered.map(([lineNumber, quantity]) => line(lineNumber, decimalOf(quantity)));
        let [state, before]: [OrderState, Despatched] = ['accepted', NOTHING];
        const isFull = () => ordered.every(([lineNumber, quantity]) => (before.get(lineNumber) ?? 0n) === quantity);
        const despatch = (parts: readonly (readonly [number, bigint])[]): string => {
          const sent = parts.map(([lineNumber, part]) => ({ lineNumber, quantity: decimalOf(part) }));
          const order = { orderNumber: '1', state, lines, agreedLines: null };
          const decision = decide(order, before, sent, SHIPMENT_TRANSITIONS[state]);
          if (decision.kind !== 'despatched') return decision.kind;
          for (const [lineNumber, sum] of decision.despatched) {
            expect(sum <= (agreed.get(lineNumber) ?? 0n)).toBe(true);
            const part = parts.find(([number]) => number === lineNumber)?.[1] ?? 0n;
            expect(sum).toBe((before.get(lineNumber) ?? 0n) + part);
          }
          [state, before] = [decision.state, decision.despatched];
          expect(state).toBe(isFull() ? 'shipped' : 'partly-shipped');
          return 'despatched';
        };
        for (const wish of despatches) {
          // A part of the line, up to more than all of it; never nothing.
          const parts = wish.map(([lineNumber, part]): [number, bigint] => {
            const quantity = agreed.get(lineNumber) ?? 1n;
            return [lineNumber, (quantity * BigInt(Math.round(part * 1000))) / 1000n || 1n];
          });
          const fits = parts.every(([number, part]) => (before.get(number) ?? 0n) + part <= (agreed.get(number) ?? 0n));
          expect(despatch(parts)).toBe(fits ? 'despatched' : 'refused');
        }
        const rest = ordered
          .map(([lineNumber, quantity]): [number, bigint] => [lineNumber, quantity - (before.get(lineNumber) ?? 0n)])
          .filter(([, left]) => left > 0n);
        if (rest.length > 0) expect(despatch(rest)).toBe('despatched');
        expect([isFull(), state]).toEqual([true, 'shipped']);
        expect(despatch([[ordered[0]?.[0] ?? 0, 1n]])).toBe('refused');
      }),
    );
  });
});
