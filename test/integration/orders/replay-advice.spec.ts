import { orderCancellationResponse, orderResponse, typeOf } from '../../../src/contracts';
import { type AdvisedMessage, ReplayAdvisors } from '../../../src/messaging/triage';
import { TestBatch } from '../consumer/records';
import {
  anOrder,
  answerRecord,
  cancel,
  consumerOf,
  exchangesOf,
  type OrdersApp,
  place,
  startOrders,
} from './orders-app';

describe("advice on partners' answers that died", () => {
  let orders: OrdersApp;
  let consumer: Awaited<ReturnType<typeof consumerOf>>;

  beforeAll(async () => {
    orders = await startOrders();
    consumer = await consumerOf(orders);
  });
  afterAll(async () => {
    await consumer.close();
    await orders.close();
  });

  const placed = async () => {
    const order = anOrder();
    expect((await place(orders, order)).status).toBe(201);
    return String(order['orderNumber']);
  };
  const answered = async (orderNumber: string, responseCode: string) => {
    const [correlationId] = await exchangesOf(orders, orderNumber, 'order-request');
    await consumer.process(new TestBatch([answerRecord('acme', String(correlationId), { orderNumber, responseCode })]));
  };
  const cancelled = async (orderNumber: string, responseCode: string) => {
    expect((await cancel(orders, orderNumber)).status).toBe(202);
    const correlationId = (await exchangesOf(orders, orderNumber, 'order-cancellation')).at(-1) as string;
    const record = answerRecord('acme', correlationId, { orderNumber, responseCode }, orderCancellationResponse);
    await consumer.process(new TestBatch([record]));
    return correlationId;
  };
  const advise = async (
    contract: typeof orderResponse | typeof orderCancellationResponse,
    messages: readonly AdvisedMessage[],
    documents: Record<string, unknown> = {},
    partner = 'acme',
  ) => {
    const read: string[] = [];
    const advice = orders.app.get(ReplayAdvisors).of(typeOf(contract));
    const objections = await advice?.({
      partner,
      messages,
      documents: (ids) => {
        read.push(...ids);
        return Promise.resolve(new Map(ids.map((id) => [id, documents[id]])));
      },
    });
    return { against: [...(objections?.keys() ?? [])], codes: [...(objections?.values() ?? [])], read };
  };
  const message = (id: string, key: string, correlationId: string | null = null): AdvisedMessage => ({
    id,
    key,
    correlationId,
  });

  it('is against those whose order is closed, and reads documents only where the order leaves it open', async () => {
    const [open, accepted, gone] = [await placed(), await placed(), await placed()];
    await answered(accepted, 'AP');
    await cancelled(gone, 'AP');
    const messages = [
      message('1', open),
      message('2', accepted),
      message('3', gone),
      message('4', gone),
      message('5', 'nobody-knows-it'),
      message('6', gone),
    ];
    const { against, codes, read } = await advise(orderResponse, messages, {
      3: { responseCode: 'AP' },
      4: { responseCode: 'RE' },
    });
    expect(against).toEqual(['2', '3']);
    expect(codes[0]).toEqual({ code: 'order-closed', detail: expect.stringMatching(/contradicts/) as string });
    expect(read).toEqual(['3', '4', '6']);
  });

  it("knows nothing of another partner's orders", async () => {
    const accepted = await placed();
    await answered(accepted, 'AP');
    expect((await advise(orderResponse, [message('1', accepted)], {}, 'umbra')).against).toEqual([]);
  });

  it('is against answers to a cancellation that was answered, and not to one that waits', async () => {
    const [refused, waiting] = [await placed(), await placed()];
    const first = await cancelled(refused, 'RE');
    await cancel(orders, refused);
    const second = (await exchangesOf(orders, refused, 'order-cancellation')).at(-1) as string;
    await cancel(orders, waiting);
    const [only] = await exchangesOf(orders, waiting, 'order-cancellation');
    const messages = [message('1', refused, first), message('2', refused, second), message('3', waiting, only ?? null)];
    expect((await advise(orderCancellationResponse, messages)).against).toEqual(['1']);
  });
});
