import type { ResponseCode } from '../../../src/contracts';
import { decide, type Refusal } from '../../../src/orders/domain/decide';
import { fold, type Folding } from '../../../src/orders/domain/fold';
import type { OrderLine } from '../../../src/orders/domain/order';

const order: Folding & { lines: OrderLine[] } = {
  orderNumber: '4711',
  state: 'placed',
  version: 1,
  agreedLines: null,
  cancellation: null,
  overdue: null,
  lines: [{ lineNumber: 1, item: 'A', quantity: '1', unit: 'C62', unitPrice: '1' }],
};
const dead: Refusal = { kind: 'dead', code: 'exchange-unknown', detail: 'none' };
const answer = (responseCode: ResponseCode, more: { refusal?: Refusal; keyed?: boolean } = {}) => ({
  decide: (current: typeof order) => decide(current, { responseCode }),
  keyed: true,
  ...more,
});

describe('folding several answers of one order', () => {
  it('applies AB, then AP, each on what the one before left', () => {
    expect(fold(order, [answer('AB'), answer('AP')])).toMatchObject([
      { kind: 'applied', type: 'acknowledged', order: { state: 'acknowledged', version: 2 } },
      { kind: 'applied', type: 'accepted', order: { state: 'accepted', version: 3 } },
    ]);
  });

  it('holds everything behind an answer that contradicts the order', () => {
    expect(fold(order, [answer('AP'), answer('RE'), answer('AB')])).toMatchObject([
      { kind: 'applied' },
      { kind: 'dead', code: 'illegal-transition' },
      { kind: 'held' },
    ]);
  });

  it('holds everything behind an answer that was refused before the order was asked', () => {
    expect(fold(order, [answer('AB', { refusal: dead }), answer('AP')])).toMatchObject([dead, { kind: 'held' }]);
  });

  it('never holds or is held without a key', () => {
    expect(
      fold(order, [
        answer('AB', { refusal: dead, keyed: false }),
        answer('AP', { keyed: false }),
        answer('RE'),
        answer('AB', { keyed: false }),
      ]),
    ).toMatchObject([dead, { kind: 'applied' }, { kind: 'dead' }, { kind: 'dead' }]);
  });

  it('keeps agreed lines when nothing new is agreed', () => {
    const agreed = [{ ...order.lines[0], quantity: '2' }] as typeof order.lines;
    expect(fold({ ...order, state: 'placed', agreedLines: agreed }, [answer('AB')])).toMatchObject([
      { order: { agreedLines: agreed } },
    ]);
  });
});
