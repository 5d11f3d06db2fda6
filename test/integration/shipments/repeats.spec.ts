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

describe('a despatch number or a correlation id that comes again', () => {
  let shipments: ShipmentsApp;
  let consumer: ReturnType<ShipmentsApp['consumer']>;
  let drawn = 0;
  const name = (stem: string) => `${stem}-${++drawn}`;

  beforeAll(async () => {
    shipments = await startShipments();
    consumer = shipments.consumer();
  });
  afterAll(() => shipments.close());

  const ledger = (correlationId: string) =>
    shipments.database.query<{ code: string; requestMessageId: string; answerMessageId: string }>(
      `SELECT answer_code AS code, request_message_id AS "requestMessageId", answer_message_id AS "answerMessageId"
       FROM exchange WHERE correlation_id = :correlationId AND direction = 'in'`,
      { correlationId },
    );

  it('with the same content gets the same receipt, and has no second effect', async () => {
    const orderNumber = await accepted(shipments, consumer);
    const despatchNumber = name('D');
    const first = adviceRecord({ orderNumber, despatchNumber, lines: goods('12.5', '1') });
    await deliver(consumer, first);
    const again = adviceRecord({ orderNumber, despatchNumber, lines: goods('12.500', '1.0').toReversed() });
    const twice = adviceRecord({ orderNumber, despatchNumber, lines: goods('12.5', '1') });
    await deliver(consumer, again, twice);
    const receipts = await receiptsOn(shipments, orderNumber);
    expect(receipts).toHaveLength(3);
    for (const { value } of receipts) expect(value).toEqual(receipts[0]?.value);
    expect(receipts[0]?.value.receiptCode).toBe('AP');
    expect(new Set(receipts.map(({ id }) => id)).size).toBe(3);
    expect(receipts.map(({ causationId }) => causationId)).toEqual(
      [first, again, twice].map(({ headers }) => headers['ce_id']),
    );
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'shipped', version: 3 });
    expect(await despatchesOf(shipments, orderNumber)).toEqual([despatchNumber]);
    expect(await ledger(String(again.headers['ce_correlationid']))).toMatchObject([
      { code: 'AP', answerMessageId: receipts[1]?.id },
    ]);
  });

  it('as the same record is a duplicate: no receipt is made again', async () => {
    const orderNumber = await accepted(shipments, consumer);
    const record = adviceRecord({ orderNumber, despatchNumber: name('D'), lines: goods('1') });
    await deliver(consumer, record, record);
    await deliver(consumer, record);
    expect(await receiptsOn(shipments, orderNumber)).toHaveLength(1);
  });

  it('with other content is refused, for this order and for another', async () => {
    const [orderNumber, other] = [await accepted(shipments, consumer), await accepted(shipments, consumer)];
    const despatchNumber = name('D');
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber, lines: goods('1') }));
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber, lines: goods('2') }));
    await deliver(consumer, adviceRecord({ orderNumber: other, despatchNumber, lines: goods('1') }));
    for (const [number, state, version] of [
      [orderNumber, 'partly-shipped', 4],
      [other, 'accepted', 3],
    ] as const) {
      expect((await receiptsOn(shipments, number)).at(-1)?.value).toMatchObject({
        ...{ despatchNumber, receiptCode: 'RE', reasonCode: 'despatch-number-reused' },
      });
      expect(await showOrder(shipments, number)).toMatchObject({ state, version });
    }
    expect(await despatchesOf(shipments, other)).toEqual([]);
  });

  it('after a refusal is judged anew, in the same exchange or another', async () => {
    const orderNumber = await accepted(shipments, consumer);
    const [despatchNumber, correlationId] = [name('D'), name('x')];
    const tooMuch = adviceRecord({ orderNumber, despatchNumber, lines: goods('13') }, { correlationId });
    await deliver(consumer, tooMuch);
    expect(await ledger(correlationId)).toMatchObject([{ code: 'RE' }]);
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber, lines: goods('12') }, { correlationId }));
    const receipts = await receiptsOn(shipments, orderNumber);
    expect(receipts.map(({ value }) => value.receiptCode)).toEqual(['RE', 'AP']);
    expect(await ledger(correlationId)).toEqual([
      { code: 'AP', requestMessageId: tooMuch.headers['ce_id'], answerMessageId: receipts[1]?.id },
    ]);
  });

  it('for another exchange is a dead letter, with what follows in its key held', async () => {
    const [orderNumber, other] = [await accepted(shipments, consumer), await accepted(shipments, consumer)];
    const correlationId = name('x');
    const lines = goods('1');
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: name('D'), lines }, { correlationId }));
    for (const number of [other, orderNumber]) {
      await deliver(
        consumer,
        adviceRecord({ orderNumber: number, despatchNumber: name('D'), lines }, { correlationId }),
        adviceRecord({ orderNumber: number, despatchNumber: name('D'), lines }),
      );
      expect(await parkedOn(shipments, number)).toMatchObject([
        { state: 'dead', code: 'correlation-reused' },
        { state: 'held' },
      ]);
    }
    expect(await receiptsOn(shipments, orderNumber)).toHaveLength(1);
    expect(await ledger(correlationId)).toMatchObject([{ code: 'AP' }]);
  });

  it("that another partner chose too is each partner's own", async () => {
    const [own, foreign] = [await accepted(shipments, consumer), await accepted(shipments, consumer, 'umbra')];
    const [despatchNumber, correlationId, id] = [name('D'), name('x'), name('m')];
    const lines = goods('12.5', '1');
    await deliver(consumer, adviceRecord({ orderNumber: own, despatchNumber, lines }, { correlationId, id }));
    const theirs = { correlationId, id, partner: 'umbra' };
    await deliver(consumer, adviceRecord({ orderNumber: foreign, despatchNumber, lines }, theirs));
    const ids = new Set<string>();
    for (const orderNumber of [own, foreign]) {
      expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'shipped' });
      expect(await despatchesOf(shipments, orderNumber)).toEqual([despatchNumber]);
      for (const receipt of await receiptsOn(shipments, orderNumber)) ids.add(receipt.id);
    }
    expect(ids.size).toBe(2);
    expect(await ledger(correlationId)).toHaveLength(2);
  });
});
