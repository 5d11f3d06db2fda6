import type { Order } from '../../../src/orders/domain/order';
import { OrderIntake } from '../../../src/orders/order-intake';
import { OrderService, type PlaceOrder } from '../../../src/orders/order.service';

const MOST = 1000;
const now = new Date(0);

/** A service whose schemas are at hand when the test says so: those of `acme` never before. */
function serviceWith(ready: (partner: string) => Promise<void>) {
  const intake = new OrderIntake({
    write: (placements) =>
      Promise.resolve(
        placements.map(({ orderNumber = '', partner, currency }) => ({
          kind: 'placed',
          order: { orderNumber, partner, currency } as Order,
        })),
      ),
  });
  const partners = {
    find: (id: string) =>
      Promise.resolve({
        ...({ id, name: id, state: 'active', version: 1, createdAt: now } as const),
        ...{ stateSince: null, stateReason: null, stateBy: null },
      }),
  };
  const service = new OrderService(partners, { ready: (_, partner) => ready(partner) }, intake);
  let drawn = 0;
  const place = (partner: string) => {
    const line = { lineNumber: 1, item: 'A', quantity: '1', unit: 'C62', unitPrice: '1' };
    const key = String(++drawn);
    const order: PlaceOrder = {
      ...{
        caller: 'c',
        callerName: 'erp',
        idempotencyKey: key,
        orderNumber: key,
        partner,
        currency: 'EUR',
        lines: [line],
      },
      contact: undefined,
      traceparent: '',
    };
    return service.place(order).then(
      () => 'placed',
      (error: unknown) => (error as { code?: string }).code,
    );
  };
  return { place };
}

describe('orders that wait for a schema', () => {
  it('are bounded, a partner at a time, and are placed when it is known', async () => {
    const known = Promise.withResolvers<void>();
    const { place } = serviceWith((partner) => (partner === 'acme' ? known.promise : Promise.resolve()));
    const waiting = Array.from({ length: MOST }, () => place('acme'));
    expect(await place('acme')).toBe('overloaded');
    expect(await place('umbra')).toBe('placed');
    known.resolve();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['placed']));
    expect(await place('acme')).toBe('placed');
  });

  it('leave their room also when it can not be had', async () => {
    const { place } = serviceWith(() => Promise.reject(Object.assign(new Error('away'), { code: 'away' })));
    for (let round = 0; round < 2; round++) {
      expect(new Set(await Promise.all(Array.from({ length: MOST }, () => place('acme'))))).toEqual(new Set(['away']));
    }
  });
});
