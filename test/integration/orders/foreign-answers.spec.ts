import { TestBatch } from '../consumer/harness';
import { anOrder, answerRecord, consumerOf, type OrdersApp, place, send, startOrders } from './orders-app';

describe("answers that name no exchange of their partner's", () => {
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

  async function placed(partner: string): Promise<{ orderNumber: string; correlationId: string }> {
    const { orderNumber } = (await place(orders, anOrder({ partner }))).json as { orderNumber: string };
    const { json } = await send(orders, 'GET', `/v1/orders/${orderNumber}/timeline`);
    const [first] = json['steps'] as { correlationId: string }[];
    return { orderNumber, correlationId: first?.correlationId ?? '' };
  }

  it.each([
    ["another partner's", 'exchange-foreign', (foreign: string) => foreign],
    ['one that nobody gave', 'exchange-unknown', () => 'never-given'],
  ])('are dead letters with a code of their own, which the story tells: %s', async (_, code, name) => {
    const [foreign, own] = [await placed('acme'), await placed('umbra')];
    const correlationId = name(foreign.correlationId);
    const { orderNumber } = own;
    const record = answerRecord('umbra', correlationId, { orderNumber, responseCode: 'AP' });
    await consumer.process(new TestBatch([record]));
    const rows = await orders.database.query<Record<string, unknown>>(
      'SELECT state, code, raw_value AS value, correlation_id AS "correlationId" FROM parked_inbound WHERE key = :orderNumber',
      { orderNumber },
    );
    expect(rows).toEqual([{ state: 'dead', code, value: record.value, correlationId }]);
    const { json } = await send(orders, 'GET', `/v1/orders/${orderNumber}/timeline`);
    expect((json['steps'] as unknown[]).at(-1)).toMatchObject({
      step: 'answer-refused',
      correlationId,
      text: expect.stringContaining(`(${code})`) as string,
    });
    for (const order of [own, foreign]) {
      const shown = await send(orders, 'GET', `/v1/orders/${order.orderNumber}`);
      expect(shown.json).toMatchObject({ state: 'placed', version: 1 });
    }
  });
});
