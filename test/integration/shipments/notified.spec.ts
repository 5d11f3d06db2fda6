import { notificationsOf, subscribe } from '../../support/receivers';
import {
  acceptance,
  accepted,
  adviceRecord,
  deliver,
  goods,
  placed,
  type ShipmentsApp,
  showOrder,
  startShipments,
} from './shipments-app';

describe('what people are told of despatches', () => {
  let shipments: ShipmentsApp;
  let consumer: ReturnType<ShipmentsApp['consumer']>;
  let drawn = 0;
  const number = () => `N-${++drawn}`;

  beforeAll(async () => {
    shipments = await startShipments();
    consumer = shipments.consumer();
    await subscribe(shipments.database, { id: 'ops-desk', kinds: ['order-shipped'] });
  });
  afterAll(() => shipments.close());

  const told = async (orderNumber: string) =>
    (await notificationsOf(shipments.database, orderNumber)).map(({ eventId, data }) => ({ eventId, ...data }));

  it('is each of them, with what finds the goods again and without who drives', async () => {
    const orderNumber = await accepted(shipments, consumer);
    const [first, rest] = [number(), number()];
    const driver = { name: 'Ada Driver', phone: '+49 151 000' };
    const found = { carrier: 'DHL', trackingNumber: '00340434' };
    await deliver(
      consumer,
      adviceRecord({ orderNumber, despatchNumber: first, lines: goods('12.5'), ...found, driver }),
      adviceRecord({ orderNumber, despatchNumber: rest, lines: goods(undefined, '1') }),
    );
    const all = { orderNumber, partner: { id: 'acme', name: 'acme' }, at: expect.any(String) as string };
    expect(await told(orderNumber)).toEqual([
      { eventId: `order/${orderNumber}/3`, ...all, despatchNumber: first, ...found, partly: true },
      { eventId: `order/${orderNumber}/4`, ...all, despatchNumber: rest },
    ]);
  });

  it('is told once, whatever comes twice: the record again, the same despatch under another id', async () => {
    const orderNumber = await accepted(shipments, consumer);
    const despatchNumber = number();
    const record = adviceRecord({ orderNumber, despatchNumber, lines: goods('1') });
    const twin = adviceRecord({ orderNumber, despatchNumber, lines: goods('1.0') });
    await deliver(consumer, record, record, twin);
    await deliver(consumer, record);
    await deliver(shipments.consumer(), twin);
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'partly-shipped', version: 3 });
    expect(await told(orderNumber)).toHaveLength(1);
  });

  it('is told when it is applied, not while it waits for the acceptance', async () => {
    const ordered = await placed(shipments);
    const { orderNumber } = ordered;
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: number(), lines: goods('1') }));
    expect(await told(orderNumber)).toEqual([]);
    await deliver(consumer, acceptance(ordered));
    await shipments.retryAll();
    expect(await told(orderNumber)).toMatchObject([{ eventId: `order/${orderNumber}/3` }]);
  });

  it('is nothing of one that was refused', async () => {
    const orderNumber = await accepted(shipments, consumer);
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: number(), lines: goods('999') }));
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'accepted', version: 3 });
    expect(await told(orderNumber)).toEqual([]);
  });
});
