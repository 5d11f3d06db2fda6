import { answerRecord } from '../orders/orders-app';
import {
  acceptance,
  adviceRecord,
  deliver,
  despatchesOf,
  goods,
  parkedOn,
  placed,
  receiptsOn,
  type ShipmentsApp,
  showOrder,
  startShipments,
} from './shipments-app';

describe('a despatch advice that is read before the acceptance', () => {
  let shipments: ShipmentsApp;
  let consumer: ReturnType<ShipmentsApp['consumer']>;
  beforeAll(async () => {
    shipments = await startShipments();
    consumer = shipments.consumer();
  });
  afterAll(() => shipments.close());

  const stepsOf = async (orderNumber: string) =>
    (
      await shipments.database.query<{ type: string }>(
        'SELECT type FROM order_event WHERE order_number = :orderNumber ORDER BY version',
        { orderNumber },
      )
    ).map(({ type }) => type);
  const statesOf = async (orderNumber: string) => (await parkedOn(shipments, orderNumber)).map(({ state }) => state);

  it('waits, however often it is tried, and is applied once the order is accepted, with what came behind it, in order', async () => {
    const ordered = await placed(shipments);
    const { orderNumber } = ordered;
    const advice = (despatchNumber: string, first?: string, second?: string) =>
      deliver(consumer, adviceRecord({ orderNumber, despatchNumber, lines: goods(first, second) }));
    await advice('E-1', '2.5');
    await advice('E-2', '10');
    await shipments.retryAll();
    await shipments.retryAll();
    expect(await parkedOn(shipments, orderNumber)).toMatchObject([
      { state: 'waiting', code: 'too-early' },
      { state: 'held' },
    ]);
    await deliver(consumer, acceptance(ordered));
    // Arrives when it could be applied at once, and must not pass those that wait.
    await advice('E-3', undefined, '1');
    expect(await despatchesOf(shipments, orderNumber)).toEqual([]);
    await shipments.retryAll();
    expect(await despatchesOf(shipments, orderNumber)).toEqual(['E-1', 'E-2', 'E-3']);
    expect(await stepsOf(orderNumber)).toEqual(['placed', 'accepted', 'partly-shipped', 'partly-shipped', 'shipped']);
    expect((await receiptsOn(shipments, orderNumber)).map(({ value }) => value)).toMatchObject(
      ['E-1', 'E-2', 'E-3'].map((despatchNumber) => ({ despatchNumber, receiptCode: 'AP' })),
    );
    expect(new Set(await statesOf(orderNumber))).toEqual(new Set(['processed']));
    // The key is free again.
    await advice('E-4', '1');
    expect((await receiptsOn(shipments, orderNumber)).at(-1)?.value).toMatchObject({ despatchNumber: 'E-4' });
    expect(await statesOf(orderNumber)).not.toContain('held');
  });

  it('is answered with a refusal where the order was rejected meanwhile', async () => {
    const { orderNumber, correlationId } = await placed(shipments);
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: 'R-1', lines: goods('1') }));
    await deliver(consumer, answerRecord('acme', correlationId, { orderNumber, responseCode: 'RE' }));
    await shipments.retryAll();
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'rejected' });
    expect((await receiptsOn(shipments, orderNumber)).map(({ value }) => value)).toMatchObject([
      { despatchNumber: 'R-1', receiptCode: 'RE' },
    ]);
    expect(await statesOf(orderNumber)).toEqual(['processed']);
  });

  it('has one effect where it comes again while it waits', async () => {
    const ordered = await placed(shipments);
    const record = adviceRecord({ orderNumber: ordered.orderNumber, despatchNumber: 'D-1', lines: goods('1') });
    await deliver(consumer, record, record);
    await deliver(consumer, record);
    await deliver(consumer, acceptance(ordered));
    await deliver(consumer, record);
    await shipments.retryAll();
    await deliver(consumer, record);
    expect(await despatchesOf(shipments, ordered.orderNumber)).toEqual(['D-1']);
    expect(await receiptsOn(shipments, ordered.orderNumber)).toHaveLength(1);
    expect(await statesOf(ordered.orderNumber)).toEqual(['processed']);
  });
});
