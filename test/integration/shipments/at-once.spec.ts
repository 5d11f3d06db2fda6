import { addAnswered } from '../../../src/messaging/exchanges';
import type { InboundRecord } from '../../../src/messaging/kafka';
import { query, type Tx } from '../../../src/platform/database';
import type { Shipment } from '../../../src/shipments/domain/shipment';
import { ShipmentRepository } from '../../../src/shipments/shipment.repository';
import { eventually } from '../../support/eventually';
import { countLockWaiters } from '../../support/lock-waiters';
import {
  accepted,
  adviceRecord,
  deliver,
  despatchesOf,
  goods,
  parkedOn,
  receiptsOn,
  type ShipmentsApp,
  showOrder,
  startShipments,
} from './shipments-app';

const ROLLED_BACK = new Error('rolled back');

describe('despatch advices that are applied at once by several consumers', () => {
  let shipments: ShipmentsApp;
  let consumers: ReturnType<ShipmentsApp['consumer']>[];
  let drawn = 0;
  const number = () => `D-${++drawn}`;

  beforeAll(async () => {
    shipments = await startShipments();
    consumers = Array.from({ length: 4 }, () => shipments.consumer());
  });
  afterAll(() => shipments.close());

  const first = 0;
  const by = (index: number) => consumers[index] as (typeof consumers)[number];
  const codes = async (orderNumber: string) =>
    (await receiptsOn(shipments, orderNumber)).map(({ value }) => value.reasonCode ?? value.receiptCode);

  /** Holds the order's row until this many transactions wait for a lock, so that all of them are under way. */
  async function together(
    orderNumbers: readonly string[],
    waiting: number,
    work: () => Promise<unknown>[],
  ): Promise<void> {
    let works: Promise<unknown>[] = [];
    await shipments.database.transaction(async (tx) => {
      await query(tx, 'SELECT 1 FROM orders WHERE order_number = ANY(:orderNumbers::text[]) FOR UPDATE', {
        orderNumbers,
      });
      works = work();
      await eventually(async () => (await countLockWaiters(shipments.database)) >= waiting, {
        what: `${waiting} transactions wait`,
      });
    });
    await Promise.all(works);
  }

  it('never add up to more than was agreed', async () => {
    const orderNumber = await accepted(shipments, by(first));
    const parts = (partition: number) =>
      Array.from({ length: 5 }, () =>
        adviceRecord({ orderNumber, despatchNumber: number(), lines: goods('1') }, { partition }),
      );
    await together([orderNumber], consumers.length, () =>
      consumers.map((consumer, index) => deliver(consumer, ...parts(index))),
    );
    const told = await codes(orderNumber);
    expect(told.toSorted()).toEqual([...Array<string>(12).fill('AP'), ...Array<string>(8).fill('over-delivery')]);
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'partly-shipped', version: 22 });
    expect(await despatchesOf(shipments, orderNumber)).toHaveLength(12);
    expect(await parkedOn(shipments, orderNumber)).toEqual([]);
  });

  /** Has records applied, each by its own consumer, that meet what another transaction took and has not committed yet. */
  async function whileTaken(take: (tx: Tx) => Promise<unknown>, ...batches: readonly InboundRecord[][]): Promise<void> {
    let delivered: Promise<void>[] = [];
    const taking = shipments.database.transaction(async (tx) => {
      const end = await take(tx);
      delivered = batches.map((records, index) => deliver(by(index), ...records));
      await eventually(async () => (await countLockWaiters(shipments.database)) >= batches.length, {
        what: 'the batches wait',
      });
      if (end instanceof Error) throw end;
    });
    await taking.catch((error: unknown) => expect(error).toBe(ROLLED_BACK));
    await Promise.all(delivered);
  }

  const shipment = (orderNumber: string, despatchNumber: string): Shipment => ({
    ...{ partner: 'acme', orderNumber, despatchNumber, lines: goods('1'), orderVersion: 3, messageId: 'other' },
    ...{
      carrier: null,
      trackingNumber: null,
      grossWeightGrams: null,
      driver: null,
      issuedAt: 'then',
      recordedAt: new Date(),
    },
  });

  it("under the number of another order's despatch are refused, and nobody is blamed", async () => {
    const [one, two] = [await accepted(shipments, by(first)), await accepted(shipments, by(first))];
    const despatchNumber = number();
    await whileTaken(
      (tx) => shipments.app.get(ShipmentRepository).add(tx, [shipment(one, despatchNumber)]),
      [adviceRecord({ orderNumber: two, despatchNumber, lines: goods('1') })],
    );
    expect(await codes(two)).toEqual(['despatch-number-reused']);
    expect(await despatchesOf(shipments, two)).toEqual([]);
    expect(await parkedOn(shipments, two)).toEqual([]);
  });

  it("in another order's exchange are dead letters with a code of their own", async () => {
    const orderNumber = await accepted(shipments, by(first));
    const correlationId = `x-${number()}`;
    const ids = { requestMessageId: 'other', answerMessageId: 'other', orderNumber: 'other' };
    const other = { correlationId, kind: 'despatch-advice', ...ids, answerCode: 'AP' };
    await whileTaken(
      (tx) => addAnswered(tx, 'acme', [other], new Date()),
      [adviceRecord({ orderNumber, despatchNumber: number(), lines: goods('1') }, { correlationId })],
    );
    expect(await codes(orderNumber)).toEqual([]);
    expect(await parkedOn(shipments, orderNumber)).toMatchObject([{ state: 'dead', code: 'correlation-reused' }]);
  });

  it('under the same numbers for different orders never wait for each other in a circle', async () => {
    const numbers = ['a', 'b', 'c', 'd', 'e'].map((letter) => `${letter}-${number()}`);
    const ordered = () => Promise.all(numbers.map(() => accepted(shipments, by(first))));
    const [one, two] = [await ordered(), await ordered()];
    const records = (orders: readonly string[], of: readonly string[], partition: number) =>
      of.map((despatchNumber, index) =>
        adviceRecord({ orderNumber: orders[index] as string, despatchNumber, lines: goods('0.5') }, { partition }),
      );
    // One from each end, they meet in the middle, which another transaction holds and then gives back.
    await whileTaken(
      async (tx) => {
        await shipments.app.get(ShipmentRepository).add(tx, [shipment('another', numbers[2] as string)]);
        return ROLLED_BACK;
      },
      records(one, numbers, 0),
      records(two, numbers.toReversed(), 1),
    );
    const orders = [...one, ...two];
    const told = (await Promise.all(orders.map(codes))).flat().toSorted();
    expect(told).toEqual(orders.map((_, index) => (index < numbers.length ? 'AP' : 'despatch-number-reused')));
    const kept = await Promise.all(orders.map((orderNumber) => despatchesOf(shipments, orderNumber)));
    expect(kept.flat().toSorted()).toEqual(numbers);
    // A deadlock is run again, and shows nowhere else.
    const [statistics] = await shipments.database.query<{ deadlocks: number }>(
      'SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(statistics?.deadlocks).toBe(0);
  });

  it('are written whole, or not at all: receipt, shipment, exchange and history stand in one transaction', async () => {
    const orderNumber = await accepted(shipments, by(first));
    const despatchNumber = number();
    // The last of the writes fails.
    await shipments.database.dataSource.query(
      `ALTER TABLE order_event ADD CONSTRAINT refused CHECK (order_number <> '${orderNumber}') NOT VALID`,
    );
    await deliver(
      by(first),
      adviceRecord({ orderNumber, despatchNumber, lines: goods('1') }, { correlationId: 'whole' }),
    );
    await shipments.database.dataSource.query('ALTER TABLE order_event DROP CONSTRAINT refused');
    expect(await parkedOn(shipments, orderNumber)).toMatchObject([{ state: 'waiting', code: 'handler-failed' }]);
    expect(await receiptsOn(shipments, orderNumber)).toEqual([]);
    expect(await despatchesOf(shipments, orderNumber)).toEqual([]);
    expect(await shipments.database.query(`SELECT 1 FROM exchange WHERE correlation_id = 'whole'`)).toEqual([]);
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'accepted', version: 2 });
  });
});
