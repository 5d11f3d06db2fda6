import { SHIPMENT_TRANSITIONS } from '../../../src/orders/domain/transitions';
import { type Advice, type Asked, judge, type Judged, type Known } from '../../../src/shipments/domain/judge';
import { type Despatch, isSameDespatch } from '../../../src/shipments/domain/shipment';

const NOW = new Date('2026-02-04T08:00:01Z');
const BEFORE = new Date('2026-02-01T00:00:00Z');

const order = (orderNumber: string, change: Partial<Judged> = {}): Judged => ({
  ...{ orderNumber, state: 'accepted', version: 2, agreedLines: null },
  lines: [{ lineNumber: 1, item: 'A', quantity: '10', unit: 'C62', unitPrice: '1' }],
  ...change,
});

const despatch = (despatchNumber: string, quantity = '4', orderNumber = 'O-1'): Despatch => ({
  ...{ orderNumber, despatchNumber, carrier: null, trackingNumber: null, grossWeightGrams: null },
  lines: [{ lineNumber: 1, quantity }],
  driver: null,
});

let drawn = 0;
const advice = (of: Despatch, change: Partial<Advice> = {}): Advice => {
  const n = ++drawn;
  return { messageId: `m-${n}`, correlationId: `c-${n}`, despatch: of, keyed: true, ...change };
};

const known = (orders: readonly Judged[], change: Partial<Known<Judged>> = {}): Known<Judged> => ({
  orders: new Map(orders.map((one) => [one.orderNumber, one])),
  ...{ despatched: new Map(), recorded: new Map(), asked: new Map() },
  ...change,
});

const judged = (advices: readonly Advice[], of: Known<Judged>) =>
  judge(advices, of, 'despatch-advice', SHIPMENT_TRANSITIONS, NOW);
const kinds = (advices: readonly Advice[], of: Known<Judged>) =>
  judged(advices, of).verdicts.map((verdict) =>
    verdict.kind === 'refused' || verdict.kind === 'dead' || verdict.kind === 'retry'
      ? `${verdict.kind} ${verdict.code}`
      : verdict.kind,
  );

describe('judging a batch of despatch advices', () => {
  it('lets each see the effect of those before it', () => {
    const advices = [advice(despatch('D-1', '4')), advice(despatch('D-2', '7')), advice(despatch('D-3', '6'))];
    const { verdicts } = judged(advices, known([order('O-1')]));
    expect(verdicts).toMatchObject([
      { kind: 'despatched', order: { state: 'partly-shipped', version: 3 } },
      {
        ...{ kind: 'refused', code: 'over-delivery', order: { state: 'partly-shipped', version: 4 } },
        reason: 'Line 1: 10 agreed, 4 despatched before, 7 in this despatch.',
      },
      { kind: 'despatched', order: { state: 'shipped', version: 5 } },
    ]);
  });

  it('counts what was despatched before the batch', () => {
    const before = known([order('O-1', { state: 'partly-shipped' })], {
      despatched: new Map([['O-1', new Map([[1, 9_999_999n]])]]),
    });
    expect(kinds([advice(despatch('D-2', '0.000002')), advice(despatch('D-3', '0.000001'))], before)).toEqual([
      'refused over-delivery',
      'despatched',
    ]);
  });

  it('says again what a recorded despatch got, whatever has become of the order', () => {
    const before = known([order('O-1', { state: 'shipped' })], {
      recorded: new Map([['D-1', { despatch: despatch('D-1', '10'), recordedAt: BEFORE }]]),
    });
    const { verdicts } = judged([advice(despatch('D-1', '10.0'))], before);
    expect(verdicts).toEqual([{ kind: 'repeated', first: { despatch: despatch('D-1', '10'), recordedAt: BEFORE } }]);
  });

  it.each([
    ['another quantity', despatch('D-1', '5')],
    ['another carrier', { ...despatch('D-1'), carrier: 'Other Ltd' }],
    ['another weight', { ...despatch('D-1'), grossWeightGrams: '1' }],
    ['another order', despatch('D-1', '4', 'O-2')],
  ])('refuses a number that was used for a despatch with %s, in this batch or before', (_, other) => {
    const orders = [order('O-1'), order('O-2')];
    expect(kinds([advice(despatch('D-1')), advice(other)], known(orders))).toEqual([
      'despatched',
      'refused despatch-number-reused',
    ]);
    const recorded = new Map([['D-1', { despatch: despatch('D-1'), recordedAt: BEFORE }]]);
    expect(kinds([advice(other)], known(orders, { recorded }))).toEqual(['refused despatch-number-reused']);
  });

  it('leaves the number of a refused despatch free for a corrected one', () => {
    const advices = [advice(despatch('D-1', '11')), advice(despatch('D-1', '10'))];
    expect(kinds(advices, known([order('O-1')]))).toEqual(['refused over-delivery', 'despatched']);
  });

  it('holds what comes behind an advice that waits or is dead, in its key alone', () => {
    const orders = [order('O-1', { state: 'acknowledged' }), order('O-2')];
    const missing = advice(despatch('D-3', '1', 'O-2'), { correlationId: undefined });
    const unkeyed = advice(despatch('D-5', '1', 'O-2'), { keyed: false });
    const advices = [
      ...[advice(despatch('D-1')), advice(despatch('D-2'))],
      ...[missing, advice(despatch('D-4', '1', 'O-2')), unkeyed, advice(despatch('D-6', '1', 'O-9'))],
    ];
    expect(kinds(advices, known(orders))).toEqual([
      ...['retry too-early', 'held'],
      ...['dead correlation-missing', 'held', 'despatched', 'dead order-unknown'],
    ]);
  });

  it('is told what can not be judged at all', () => {
    const refusal = { kind: 'dead', code: 'despatch-number-unfit', detail: 'x' } as const;
    expect(kinds([advice(despatch('D\n1'), { refusal })], known([order('O-1')]))).toEqual([
      'dead despatch-number-unfit',
    ]);
  });
});

describe('the correlation id of an advice', () => {
  const asked = (change: Partial<Asked> = {}) =>
    new Map([['c', { orderNumber: 'O-1', kind: 'despatch-advice', code: 'AP', ...change }]]);
  const again = (of: Despatch) => [advice(of, { correlationId: 'c' })];
  const recorded = new Map([['D-1', { despatch: despatch('D-1'), recordedAt: BEFORE }]]);
  const orders = [order('O-1'), order('O-2')];

  it('opens an exchange, which keeps the advice and the receipt that it ended with', () => {
    const first = advice(despatch('D-1'));
    expect([...judged([first], known(orders)).answered]).toEqual([
      [
        first.correlationId,
        {
          ...{ orderNumber: 'O-1', kind: 'despatch-advice', code: 'AP' },
          ...{ requestMessageId: first.messageId, answeredMessageId: first.messageId },
        },
      ],
    ]);
  });

  it('can not stand for another despatch, another order or another kind of exchange', () => {
    expect(kinds(again(despatch('D-2')), known(orders, { asked: asked(), recorded }))).toEqual([
      'dead correlation-reused',
    ]);
    for (const change of [{ orderNumber: 'O-2' }, { kind: 'another' }]) {
      const of = known(orders, { asked: asked({ code: 'RE', ...change }) });
      expect(kinds(again(despatch('D-1')), of)).toEqual(['dead correlation-reused']);
    }
    const inBatch = [...again(despatch('D-1')), ...again(despatch('D-9', '1', 'O-2'))];
    expect(kinds(inBatch, known(orders))).toEqual(['despatched', 'dead correlation-reused']);
  });

  it('may come again with what its exchange recorded, which leaves the exchange as it is', () => {
    const { verdicts, answered } = judged(again(despatch('D-1')), known(orders, { asked: asked(), recorded }));
    expect([verdicts[0]?.kind, [...answered]]).toEqual(['repeated', []]);
    const other = judged(again(despatch('D-1', '5')), known(orders, { asked: asked(), recorded }));
    expect([other.verdicts[0]?.kind, [...other.answered]]).toEqual(['refused', []]);
  });

  it('may come again while its exchange has recorded nothing, and then the new answer stands', () => {
    const of = known(orders, { asked: asked({ code: 'RE' }) });
    const { verdicts, answered } = judged(again(despatch('D-1')), of);
    expect([verdicts[0]?.kind, answered.get('c')?.code]).toEqual(['despatched', 'AP']);
  });
});

describe('two despatches', () => {
  const two = (a: string, b: string): Despatch => ({
    ...despatch('D-1'),
    lines: [
      { lineNumber: 1, quantity: a },
      { lineNumber: 12, quantity: b },
    ],
  });

  it('are the same whatever the order of their lines and the zeros of their decimals', () => {
    const turned = { ...two('1', '2.50'), lines: two('1', '2.50').lines.toReversed() };
    expect(isSameDespatch(two('1.000', '2.5'), turned)).toBe(true);
    expect(isSameDespatch(two('1', '2'), two('2', '1'))).toBe(false);
  });
});
