import { type Happening, isTold, noticeOf } from '../../../src/orders/domain/notice';
import { STEP_TYPES } from '../../../src/orders/domain/order';
import { kindOf } from '../../../src/notifications/kinds/catalogue';
import { eventFault } from '../../../src/notifications/domain/event-fault';

const AT = new Date('2026-03-01T10:00:00.000Z');
const step = (change: Partial<Happening>): Happening => ({
  orderNumber: 'PO-1',
  partner: 'acme',
  version: 3,
  type: 'accepted',
  ...change,
});
const LINES = [{ lineNumber: 1, quantity: '80', unitPrice: '12.50' }];
const MISSED = { deadline: new Date('2026-03-01T09:00:00.000Z'), resends: 2, isCancellation: false };
const told = (change: Partial<Happening>) => noticeOf(step(change), 'Acme Ltd', AT)?.data;

describe('what is told of a step of an order', () => {
  it('is an event under an id that the same step always has', () => {
    expect(noticeOf(step({ detail: { reason: 'week 50' } }), 'Acme Ltd', AT)).toEqual({
      id: 'order/PO-1/3',
      kind: 'order-accepted',
      at: AT,
      partner: 'acme',
      orderNumber: 'PO-1',
      data: { orderNumber: 'PO-1', partner: { id: 'acme', name: 'Acme Ltd' }, at: AT.toISOString(), reason: 'week 50' },
    });
  });

  it.each([
    ['accepted', {}, 'order-accepted', {}],
    ['rejected', { detail: { reason: 'sold out' } }, 'order-rejected', { reason: 'sold out' }],
    ['changed', { detail: { lines: LINES } }, 'order-changed', { lines: LINES }],
    ['overdue', { missed: MISSED }, 'order-overdue', { deadline: '2026-03-01T09:00:00.000Z', count: 2 }],
    [
      'overdue',
      { missed: { ...MISSED, resends: 0, isCancellation: true } },
      'order-overdue',
      { deadline: '2026-03-01T09:00:00.000Z', cancellation: true },
    ],
    [
      'partly-shipped',
      { detail: { documentNumber: 'D-1' }, despatch: { carrier: 'DHL', trackingNumber: null } },
      'order-shipped',
      { despatchNumber: 'D-1', carrier: 'DHL', partly: true },
    ],
    [
      'shipped',
      { detail: { documentNumber: 'D-2' }, despatch: { carrier: null, trackingNumber: '0034' } },
      'order-shipped',
      { despatchNumber: 'D-2', trackingNumber: '0034' },
    ],
  ] as const)('%s: has all that its kind asks for', (type, change, name, data) => {
    const notice = noticeOf(step({ type, ...change }), 'Acme Ltd', AT);
    expect(notice).toMatchObject({ kind: name, data });
    const { orderNumber, partner, at, ...said } = notice?.data ?? {};
    expect([orderNumber, partner, at]).not.toContain(undefined);
    expect(said).toEqual(data);
    const kind = kindOf(name);
    expect(notice && eventFault(kind, notice)).toBeUndefined();
    // What templates may use is what the kind's example shows.
    expect(Object.keys(notice?.data ?? {}).filter((member) => !(member in (kind?.example ?? {})))).toEqual([]);
  });

  it('is nothing for every other step', () => {
    const told = STEP_TYPES.filter((type) => isTold({ type }));
    expect(told).toEqual(['accepted', 'rejected', 'changed', 'partly-shipped', 'shipped', 'overdue']);
    for (const type of STEP_TYPES.filter((one) => !told.includes(one)))
      expect(noticeOf(step({ type }), 'Acme Ltd', AT)).toBeUndefined();
  });

  it('is bounded, whatever the partner wrote', () => {
    const reason = `${'x'.repeat(498)}🚚${'y'.repeat(65_536)}`;
    const text = told({ detail: { reason } })?.['reason'] as string;
    expect(text).toHaveLength(500);
    expect(text.isWellFormed()).toBe(true);
    expect(text.startsWith('xxx')).toBe(true);
    const lines = Array.from({ length: 1000 }, (_, n) => ({ lineNumber: n, quantity: '1', unitPrice: '1' }));
    expect(told({ type: 'changed', detail: { lines } })).toMatchObject({ lines: lines.slice(0, 50), moreLines: 950 });
  });
});
