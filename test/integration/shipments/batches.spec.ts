import fc from 'fast-check';
import type { InboundRecord } from '../../../src/messaging/kafka';
import {
  accepted,
  acceptance,
  adviceRecord,
  deliver,
  goods,
  placed,
  receiptsOn,
  type ShipmentsApp,
  showOrder,
  startShipments,
} from './shipments-app';

/** What a partner may do wrong or right, drawn from so few values that they meet. */
const advices = fc.array(
  fc.record({
    order: fc.integer({ min: 0, max: 2 }),
    despatch: fc.integer({ min: 0, max: 5 }),
    correlation: fc.option(fc.integer({ min: 0, max: 11 }), { nil: undefined, freq: 3 }),
    first: fc.constantFrom('0.5', '4', '6.25', '12.500001'),
    second: fc.option(fc.constantFrom('0.5', '1'), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 20 },
);

describe('random despatch advices', () => {
  let shipments: ShipmentsApp;
  let consumer: ReturnType<ShipmentsApp['consumer']>;
  let run = 0;

  beforeAll(async () => {
    shipments = await startShipments();
    consumer = shipments.consumer();
  });
  afterAll(() => shipments.close());

  /** Two accepted orders and one whose answer is still to come. */
  async function orders(partner: string): Promise<string[]> {
    const early = await placed(shipments, partner);
    return [
      await accepted(shipments, consumer, partner),
      await accepted(shipments, consumer, partner),
      early.orderNumber,
    ];
  }

  /** Everything that can be seen of the orders afterwards, without what names one of them. */
  async function seen(orderNumbers: readonly string[], partner: string) {
    const all = orderNumbers.map(async (orderNumber) => {
      const { state, version } = await showOrder(shipments, orderNumber);
      const receipts = await receiptsOn(shipments, orderNumber);
      const parked = await shipments.database.query(
        'SELECT state, code, message_id AS "messageId" FROM parked_inbound WHERE key = :orderNumber ORDER BY id',
        { orderNumber },
      );
      const recorded = await shipments.database.query(
        `SELECT despatch_number AS number, message_id AS "messageId", order_version AS version, lines FROM shipment
         WHERE order_number = :orderNumber ORDER BY order_version`,
        { orderNumber },
      );
      const told = receipts.map(({ causationId, correlationId, value: { receiptCode, reasonCode } }) => [
        ...[causationId, correlationId, receiptCode, reasonCode],
      ]);
      return { state, version, told, parked, recorded };
    });
    const exchanges = await shipments.database.query(
      `SELECT correlation_id AS "correlationId", request_message_id AS request, answer_code AS code FROM exchange
       WHERE partner = :partner AND direction = 'in' AND correlation_id LIKE :run ORDER BY correlation_id`,
      { partner, run: `${run}-%` },
    );
    return { orders: await Promise.all(all), exchanges };
  }

  it('have the same effect in one batch as one by one, and never despatch more than was agreed', async () => {
    await fc.assert(
      fc.asyncProperty(advices, async (drawn) => {
        run++;
        const recordsOf = (orderNumbers: readonly string[], partner: string): InboundRecord[] =>
          drawn.map(({ order, despatch, correlation, first, second }, index) =>
            adviceRecord(
              {
                orderNumber: orderNumbers[order] as string,
                despatchNumber: `D-${run}-${despatch}`,
                lines: goods(first, second),
              },
              { partner, id: `${run}-${index}`, correlationId: `${run}-${correlation ?? `own-${index}`}` },
            ),
          );
        const [whole, single] = [await orders('acme'), await orders('umbra')];
        await deliver(consumer, ...recordsOf(whole, 'acme'));
        for (const record of recordsOf(single, 'umbra')) await deliver(consumer, record);
        const [inOne, oneByOne] = [await seen(whole, 'acme'), await seen(single, 'umbra')];
        expect(inOne).toEqual(oneByOne);
        const sums = await shipments.database.query(
          `SELECT 1 FROM shipment CROSS JOIN jsonb_array_elements(lines) l GROUP BY order_number, l->>'lineNumber'
           HAVING sum((l->>'quantity')::numeric) > CASE l->>'lineNumber' WHEN '1' THEN 12.5 ELSE 1 END`,
        );
        expect(sums).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it('hold nothing of an order that is not theirs', async () => {
    const early = await placed(shipments);
    const other = await accepted(shipments, consumer);
    const lines = goods('1');
    await deliver(
      consumer,
      adviceRecord({ orderNumber: early.orderNumber, despatchNumber: 'E-1', lines }),
      adviceRecord({ orderNumber: other, despatchNumber: 'E-2', lines }),
    );
    expect((await receiptsOn(shipments, other)).map(({ value }) => value.receiptCode)).toEqual(['AP']);
    await deliver(consumer, acceptance(early));
    expect(await showOrder(shipments, early.orderNumber)).toMatchObject({ state: 'accepted' });
  });
});
