import { type OrderCancellationResponse, orderCancellationResponse } from '../../../src/contracts';
import type { InboundRecord } from '../../../src/messaging/kafka';
import { Notifications } from '../../../src/notifications';
import { Partners } from '../../../src/partners';
import { notificationsOf, subscribe } from '../../support/receivers';
import { giveKey } from '../../support/staff';
import { TestBatch } from '../consumer/harness';
import {
  anOrder,
  answerRecord,
  cancel,
  consumerOf,
  exchangesOf,
  type OrdersApp,
  place,
  send,
  startOrders,
} from './orders-app';

const KINDS = ['order-accepted', 'order-rejected', 'order-changed', 'order-overdue'];

describe('what people are told of orders', () => {
  let orders: OrdersApp;
  let consumer: Awaited<ReturnType<typeof consumerOf>>;

  beforeAll(async () => {
    orders = await startOrders();
    consumer = await consumerOf(orders);
    await subscribe(orders.database, { id: 'ops-desk', kinds: KINDS });
    await subscribe(orders.database, { id: 'erp', kinds: KINDS, channels: ['webhook'], partners: ['acme'] });
  });
  afterAll(async () => {
    await consumer.close();
    await orders.close();
  });

  const placed = async (partner = 'acme') => {
    const { orderNumber } = (await place(orders, anOrder({ partner }))).json as { orderNumber: string };
    const [correlationId = ''] = await exchangesOf(orders, orderNumber, 'order-request');
    return { orderNumber, correlationId };
  };
  const deliver = (...records: readonly InboundRecord[]) => consumer.process(new TestBatch(records));
  const answer = (
    { orderNumber, correlationId }: { orderNumber: string; correlationId: string },
    value: Record<string, unknown> & { responseCode: string },
    partner = 'acme',
  ) => answerRecord(partner, correlationId, { orderNumber, ...value });
  const told = async (orderNumber: string) =>
    (await notificationsOf(orders.database, orderNumber)).map(({ eventId, kind, receiver, channel }) => ({
      event: eventId.split('/').at(-1),
      ...{ kind, receiver, channel },
    }));

  it('goes to everybody who subscribed to it, of their partners alone, with what the answer said', async () => {
    const [one, two] = [await placed(), await placed('umbra')];
    await deliver(answer(one, { responseCode: 'RE', reason: 'sold out' }));
    await deliver(answer(two, { responseCode: 'AP' }, 'umbra'));
    expect(await told(one.orderNumber)).toEqual([
      { event: '2', kind: 'order-rejected', receiver: 'erp', channel: 'webhook' },
      { event: '2', kind: 'order-rejected', receiver: 'ops-desk', channel: 'email' },
    ]);
    expect(await told(two.orderNumber)).toEqual([
      { event: '2', kind: 'order-accepted', receiver: 'ops-desk', channel: 'email' },
    ]);
    const [{ data, partner } = { data: {}, partner: null }] = await notificationsOf(orders.database, one.orderNumber);
    expect(partner).toBe('acme');
    expect(data).toMatchObject({ partner: { id: 'acme', name: 'acme' }, reason: 'sold out' });
    // Whom the partner asks about the order is told to nobody.
    expect(Object.keys(data).toSorted()).toEqual(['at', 'orderNumber', 'partner', 'reason']);
  });

  it('is the changes of an acceptance with change, and nothing for an acknowledgement', async () => {
    const one = await placed();
    await deliver(answer(one, { responseCode: 'AB' }));
    expect(await told(one.orderNumber)).toEqual([]);
    const lines = [{ lineNumber: 1, quantity: '10', unitPrice: '9.99' }];
    await deliver(answer(one, { responseCode: 'CA', lines }));
    const [first, ...others] = await notificationsOf(orders.database, one.orderNumber);
    expect(first).toMatchObject({ kind: 'order-changed', eventId: `order/${one.orderNumber}/3`, data: { lines } });
    expect(others).toHaveLength(1);
  });

  it('is told once, whatever comes twice: an answer under two ids, the same record again, one after the deadline', async () => {
    const one = await placed();
    const first = answer(one, { responseCode: 'AP' });
    const twin = answer(one, { responseCode: 'AP' });
    await deliver(first, first, twin);
    await deliver(first);
    await deliver(twin);
    expect((await told(one.orderNumber)).map(({ receiver }) => receiver)).toEqual(['erp', 'ops-desk']);
  });

  it('is told once although the notice of the step is told again', async () => {
    const one = await placed();
    await deliver(answer(one, { responseCode: 'AP' }));
    const [made] = await notificationsOf(orders.database, one.orderNumber);
    if (!made) throw new Error('nothing was told');
    const { eventId: id, kind, data } = made;
    const again = await orders.database.transaction((tx) =>
      orders.app
        .get(Notifications)
        .raise(tx, [{ id, kind, at: new Date(), partner: 'acme', orderNumber: one.orderNumber, data }], new Date()),
    );
    expect(again).toBe(0);
    expect(await told(one.orderNumber)).toHaveLength(2);
  });

  it('is nothing of an answer that changes nothing: after both sides cancelled', async () => {
    const one = await placed();
    expect((await cancel(orders, one.orderNumber)).status).toBe(202);
    const [correlationId = ''] = await exchangesOf(orders, one.orderNumber, 'order-cancellation');
    const agreed = { orderNumber: one.orderNumber, responseCode: 'AP' } satisfies Partial<OrderCancellationResponse>;
    await deliver(answerRecord('acme', correlationId, agreed, orderCancellationResponse));
    await deliver(answer(one, { responseCode: 'RE' }));
    const { json } = await send(orders, 'GET', `/v1/orders/${one.orderNumber}`);
    expect(json).toMatchObject({ state: 'cancelled', version: 4 });
    expect(await told(one.orderNumber)).toEqual([]);
  });

  it('takes texts of any length and any characters, and never keeps the answer from being applied', async () => {
    const one = await placed();
    const reason = `sold\0out ${'x'.repeat(1_900)}`;
    await deliver(answer(one, { responseCode: 'RE', reason }));
    expect((await send(orders, 'GET', `/v1/orders/${one.orderNumber}`)).json).toMatchObject({ state: 'rejected' });
    const [{ data } = { data: {} }] = await notificationsOf(orders.database, one.orderNumber);
    expect(String((data as { reason?: string }).reason)).toMatch(/^sold\ufffdout x+…$/);
    expect(JSON.stringify(data).length).toBeLessThan(800);
  });

  it("is in the order's story: who is told of what, and what became of it", async () => {
    const one = await placed();
    await deliver(answer(one, { responseCode: 'AP' }));
    const story = async () =>
      ((await send(orders, 'GET', `/v1/orders/${one.orderNumber}/timeline`)).json['steps'] as Record<string, unknown>[])
        .slice(3)
        .map(({ at, step, text, messageId }) => ({ at, step, text, messageId }));
    const [erp, desk] = await notificationsOf(orders.database, one.orderNumber);
    const due = expect.stringMatching(
      /^E-mail to ops-desk about the acceptance: waits; due at 20\d\d-.*Z\.$/,
    ) as string;
    expect(await story()).toContainEqual({ at: null, step: 'notification-waiting', text: due, messageId: null });
    const settle = (id: string | undefined, state: string, change = '') =>
      orders.database.transaction((tx) =>
        tx.query(`UPDATE notification SET state = $2, settled_at = '2026-03-01T12:01:00Z' ${change} WHERE id = $1`, [
          id,
          state,
        ]),
      );
    await settle(erp?.id, 'sent');
    await settle(desk?.id, 'unknown', ', doubtful = true');
    const at = '2026-03-01T12:01:00.000Z';
    const text = `E-mail to ops-desk about the acceptance: may have gone out or not; staff are to find out and resolve ${desk?.id}.`;
    const steps = await story();
    expect(steps).toHaveLength(2);
    expect(steps).toContainEqual({
      at,
      step: 'notified',
      text: 'Webhook to erp about the acceptance: sent.',
      messageId: null,
    });
    expect(steps).toContainEqual({ at, step: 'notification-unknown', text, messageId: null });
    expect(JSON.stringify(steps)).not.toContain('example.com');
    const confined = { ...orders, key: await giveKey(orders.database, { partners: ['acme'] }) };
    const seen = await send(confined, 'GET', `/v1/orders/${one.orderNumber}/timeline`);
    expect(seen.body).toContain('Webhook to ••• about the acceptance: sent.');
    expect(seen.body).not.toMatch(/ops-desk|erp/);
  });

  it('costs a batch nothing in which nothing is to be told, and one call otherwise', async () => {
    const raise = jest.spyOn(orders.app.get(Notifications), 'raise');
    const find = jest.spyOn(orders.app.get(Partners), 'find');
    try {
      const many = await Promise.all(Array.from({ length: 20 }, () => placed()));
      find.mockClear();
      await deliver(...many.map((one) => answer(one, { responseCode: 'AB' })));
      expect([raise.mock.calls.length, find.mock.calls.length]).toEqual([0, 0]);
      await deliver(...many.map((one) => answer(one, { responseCode: 'AP' })));
      expect([raise.mock.calls.length, find.mock.calls.length]).toEqual([1, 1]);
    } finally {
      raise.mockRestore();
      find.mockRestore();
    }
  });
});
