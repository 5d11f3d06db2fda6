import { OrderBook } from '../../../src/simulator/order-book';

const book = () => new OrderBook();
const [agrees, refuses] = [{ decision: 'agree' }, expect.objectContaining({ decision: 'refuse' }) as unknown];

describe("a partner's word on a cancellation", () => {
  it('refuses for the same reason however late it is asked again: an answer under the same id is the same', () => {
    const orders = book();
    orders.opened('acme', 'A', 2);
    const first = orders.decide('acme', 'A', 'refuse', true);
    orders.despatching('acme', 'A');
    orders.written('acme', 'A');
    expect(orders.decide('acme', 'A', 'refuse', true)).toEqual(first);
  });

  it('is what its mix says while nothing was despatched', () => {
    const orders = book();
    orders.opened('acme', 'A', 3);
    expect(orders.decide('acme', 'A', 'refuse', true)).toEqual(refuses);
    expect(orders.decide('acme', 'A', 'agree', true)).toEqual(agrees);
    expect([orders.isCancelled('acme', 'A'), orders.isCancelled('globex', 'A')]).toEqual([true, false]);
  });

  it('is a refusal once goods are on their way, also after everything was written', () => {
    const orders = book();
    orders.opened('acme', 'A', 2);
    orders.despatching('acme', 'A');
    expect(orders.decide('acme', 'A', 'agree', true)).toEqual(refuses);
    orders.written('acme', 'A');
    orders.written('acme', 'A');
    expect(orders.decide('acme', 'A', 'agree', true)).toEqual(refuses);
    // The request comes again, under its id.
    orders.opened('acme', 'A', 2);
    expect(orders.decide('acme', 'A', 'agree', true)).toEqual(refuses);
  });

  it('stays the same when it is asked again, whatever the mix says then', () => {
    const orders = book();
    orders.decide('acme', 'A', 'agree', false);
    expect(orders.decide('acme', 'A', 'refuse', true)).toEqual(agrees);
  });

  it('follows from the behaviour for an order that was finished before a restart', () => {
    expect(book().decide('acme', 'A', 'agree', true)).toEqual(refuses);
    expect(book().decide('acme', 'A', 'agree', false)).toEqual(agrees);
  });

  it('holds after a restart in the middle of an order, by the journal', () => {
    const orders = book();
    orders.recall({ kind: 'despatching', partner: 'acme', order: 'A' });
    orders.recall({ kind: 'cancelling', partner: 'acme', order: 'B', decision: 'agree' });
    orders.recall({ kind: 'cancelling', partner: 'acme', order: 'C', decision: 'refuse' });
    for (const order of ['A', 'B', 'C']) orders.opened('acme', order, 2);
    expect(orders.decide('acme', 'A', 'agree', true)).toEqual(refuses);
    expect(['B', 'C'].map((order) => orders.isCancelled('acme', order))).toEqual([true, false]);
  });
});
