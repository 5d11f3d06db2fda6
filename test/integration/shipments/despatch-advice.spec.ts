import { ChannelCatalog } from '../../../src/messaging/channels';
import { eventually } from '../../support/eventually';
import { send } from '../orders/orders-app';
import {
  accepted,
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

describe("partners' despatch advices", () => {
  let shipments: ShipmentsApp;
  let consumer: ReturnType<ShipmentsApp['consumer']>;
  let drawn = 0;
  const number = () => `D-${++drawn}`;

  beforeAll(async () => {
    shipments = await startShipments();
    consumer = shipments.consumer();
  });
  afterAll(() => shipments.close());

  const exchangeOf = async (correlationId: string) =>
    shipments.database.query<Record<string, unknown>>(
      `SELECT partner, direction, kind, order_number AS "orderNumber", state, request_message_id AS "requestMessageId", answer_message_id AS "answerMessageId",
         answer_code AS code FROM exchange WHERE correlation_id = :correlationId ORDER BY partner`,
      { correlationId },
    );
  const stepsOf = async (orderNumber: string) =>
    (await send(shipments, 'GET', `/v1/orders/${orderNumber}/timeline`)).json['steps'] as Record<string, unknown>[];

  it('ship an order in parts and as a whole, each answered with a receipt', async () => {
    const orderNumber = await accepted(shipments, consumer);
    const [first, second] = [number(), number()];
    const part = adviceRecord(
      { orderNumber, despatchNumber: first, lines: goods('12') },
      { correlationId: `x-${first}` },
    );
    await deliver(consumer, part);
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'partly-shipped', version: 3 });
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: second, lines: goods('0.5', '1.000') }));
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'shipped', version: 4 });
    const receipts = await receiptsOn(shipments, orderNumber);
    expect(receipts.map(({ value }) => [value.despatchNumber, value.receiptCode])).toEqual([
      [first, 'AP'],
      [second, 'AP'],
    ]);
    expect(receipts[0]).toMatchObject({ correlationId: `x-${first}`, causationId: part.headers['ce_id'] });
    expect(await exchangeOf(`x-${first}`)).toEqual([
      {
        ...{ partner: 'acme', direction: 'in', kind: 'despatch-advice', orderNumber, state: 'answered', code: 'AP' },
        ...{ requestMessageId: part.headers['ce_id'], answerMessageId: receipts[0]?.id },
      },
    ]);
  });

  it('see the effect of those before them in one batch', async () => {
    const orderNumber = await accepted(shipments, consumer);
    const batch = [goods('12'), goods('1'), goods('0.5', '1'), goods(undefined, '0.000001')];
    await deliver(consumer, ...batch.map((lines) => adviceRecord({ orderNumber, despatchNumber: number(), lines })));
    const receipts = await receiptsOn(shipments, orderNumber);
    expect(receipts.map(({ value }) => value.reasonCode ?? value.receiptCode)).toEqual([
      ...['AP', 'over-delivery', 'AP', 'over-delivery'],
    ]);
    expect(receipts.map(({ value }) => value.reason)).toEqual([
      ...[undefined, 'Line 1: 12.5 agreed, 12 despatched before, 1 in this despatch.', undefined],
      'Line 2: 1 agreed, 1 despatched before, 0.000001 in this despatch.',
    ]);
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'shipped', version: 6 });
    expect(await despatchesOf(shipments, orderNumber)).toHaveLength(2);
    expect(await parkedOn(shipments, orderNumber)).toEqual([]);
  });

  it('are refused as a whole with the numbers, and record nothing of the goods', async () => {
    const orderNumber = await accepted(shipments, consumer);
    for (const [lines, code] of [
      [goods('12.500001', '1'), 'over-delivery'],
      [[...goods('1'), { lineNumber: 9, quantity: '1' }], 'line-unknown'],
      [[...goods('1'), ...goods('1')], 'line-repeated'],
    ] as const) {
      await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: number(), lines: [...lines] }));
      expect((await receiptsOn(shipments, orderNumber)).at(-1)?.value).toMatchObject({
        ...{ receiptCode: 'RE', reasonCode: code, reason: expect.any(String) as string },
      });
    }
    expect(await despatchesOf(shipments, orderNumber)).toEqual([]);
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'accepted', version: 5 });
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: number(), lines: goods('12.5', '1') }));
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'shipped', version: 6 });
  });

  it('measure by what the partner agreed to deliver instead, to the digit', async () => {
    const ordered = await placed(shipments);
    const { orderNumber } = ordered;
    const lines = [{ lineNumber: 1, quantity: '123456789012345678.000001', unitPrice: '1' }];
    const change = acceptance(ordered);
    const value = { orderNumber, responseCode: 'CA', issuedAt: '2026-03-01T10:00:00Z', lines };
    await deliver(consumer, { ...change, value: Buffer.from(JSON.stringify(value)) });
    const sent = (first: string) => adviceRecord({ orderNumber, despatchNumber: number(), lines: goods(first) });
    await deliver(consumer, sent('123456789012345677.000001'), sent('1.000001'), sent('1'));
    const receipts = await receiptsOn(shipments, orderNumber);
    expect(receipts.map(({ value: receipt }) => receipt.receiptCode)).toEqual(['AP', 'RE', 'AP']);
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'partly-shipped' });
  });

  it('of a closed order are refused', async () => {
    const ordered = await placed(shipments);
    const { orderNumber } = ordered;
    const answer = { orderNumber, responseCode: 'RE', issuedAt: '2026-03-01T10:00:00Z' };
    await deliver(consumer, { ...acceptance(ordered), value: Buffer.from(JSON.stringify(answer)) });
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: number(), lines: goods('1') }));
    expect((await receiptsOn(shipments, orderNumber)).map(({ value }) => value)).toMatchObject([
      { receiptCode: 'RE', reasonCode: 'order-closed', reason: `Order ${orderNumber} is rejected.` },
    ]);
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'rejected', version: 3 });
  });

  it('tell their story in the timeline, with the place of advice and receipt', async () => {
    const orderNumber = await accepted(shipments, consumer);
    const [first, second] = [number(), number()];
    const part = adviceRecord({ orderNumber, despatchNumber: first, lines: goods('12') });
    await deliver(consumer, part, adviceRecord({ orderNumber, despatchNumber: second, lines: goods('12') }));
    const steps = (await stepsOf(orderNumber)).filter(({ messageId }) => String(messageId).startsWith('advice-'));
    expect(steps).toMatchObject([
      {
        ...{ step: 'partly-shipped', messageId: part.headers['ce_id'], topic: part.topic, partition: 0 },
        offset: String(part.offset),
        text: expect.stringContaining(first) as string,
      },
      { step: 'despatch-refused', text: expect.stringContaining('12.5 agreed, 12 despatched before') as string },
    ]);
    const [receipt] = await receiptsOn(shipments, orderNumber);
    expect((await stepsOf(orderNumber)).find(({ messageId }) => messageId === receipt?.id)).toMatchObject({
      ...{ step: 'waiting-to-be-published', topic: 'shipments.acme.response.v1', offset: null },
    });
    await shipments.database.dataSource.query(
      `INSERT INTO outbox_receipt (topic, partition, base_offset, first_seq, last_seq, seqs)
       SELECT topic, partition, 41, seq, seq, ARRAY[seq] FROM outbox_message WHERE seq = $1`,
      [receipt?.seq],
    );
    expect((await stepsOf(orderNumber)).find(({ messageId }) => messageId === receipt?.id)).toMatchObject({
      ...{ step: 'published', offset: '41' },
    });
  });

  it('that come too early wait and hold their channel, and not the acceptance that they wait for', async () => {
    const ordered = await placed(shipments);
    const { orderNumber } = ordered;
    const [first, second] = [number(), number()];
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: first, lines: goods('1') }));
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: second, lines: goods('1') }));
    const topic = 'shipments.acme.request.v1';
    expect(await parkedOn(shipments, orderNumber)).toEqual([
      { state: 'waiting', code: 'too-early', topic },
      { state: 'held', code: null, topic },
    ]);
    expect(await receiptsOn(shipments, orderNumber)).toEqual([]);
    await deliver(consumer, acceptance(ordered));
    expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'accepted', version: 2 });
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: number(), lines: goods('1') }));
    expect((await parkedOn(shipments, orderNumber)).map(({ state }) => state)).toEqual(['waiting', 'held', 'held']);
  });

  it('wait, and nobody is blamed, while the partner has no topic for their receipts', async () => {
    const topic = 'shipments.umbra.response.v1';
    const orderNumber = await accepted(shipments, consumer, 'umbra');
    const rename = async (from: string, to: string) => {
      await shipments.database.dataSource.query('UPDATE channel SET topic = $2 WHERE topic = $1', [from, to]);
      await shipments.app.get(ChannelCatalog).load();
    };
    await rename(topic, 'none');
    const delivered = deliver(
      consumer,
      adviceRecord({ orderNumber, despatchNumber: number(), lines: goods('1') }, { partner: 'umbra' }),
    );
    await eventually(() => consumer.signals.waitingFor !== undefined, { interval: 5, what: 'the consumer waits' });
    expect(await parkedOn(shipments, orderNumber)).toEqual([]);
    await rename('none', topic);
    await delivered;
    expect(await parkedOn(shipments, orderNumber)).toEqual([]);
    expect(await receiptsOn(shipments, orderNumber)).toMatchObject([{ value: { receiptCode: 'AP' } }]);
  });

  it('are dead letters where there is no such order of the partner, no exchange, or no number that can be kept', async () => {
    const [own, foreign] = [await accepted(shipments, consumer), await accepted(shipments, consumer, 'umbra')];
    const lines = goods('1');
    const cases = [
      ['order-unknown', adviceRecord({ orderNumber: `${own}-none`, despatchNumber: number(), lines })],
      ['order-unknown', adviceRecord({ orderNumber: foreign, despatchNumber: number(), lines })],
      [
        'correlation-missing',
        adviceRecord({ orderNumber: own, despatchNumber: number(), lines }, { correlationId: null }),
      ],
      [
        'despatch-number-unfit',
        adviceRecord({ orderNumber: await accepted(shipments, consumer), despatchNumber: 'D\0', lines }),
      ],
      [
        'despatch-number-unfit',
        adviceRecord({ orderNumber: await accepted(shipments, consumer), despatchNumber: 'D\n1', lines }),
      ],
    ] as const;
    for (const [code, record] of cases) {
      await deliver(consumer, record);
      const orderNumber = String(record.key);
      expect(await parkedOn(shipments, orderNumber)).toMatchObject([{ state: 'dead', code }]);
      expect(await receiptsOn(shipments, orderNumber)).toEqual([]);
    }
    expect(await showOrder(shipments, foreign)).toMatchObject({ state: 'accepted', version: 2 });
  });

  it('are recorded with words that PostgreSQL does not take as they are', async () => {
    const orderNumber = await accepted(shipments, consumer);
    const words = {
      carrier: 'Par\0cel',
      trackingNumber: 'PX\0',
      grossWeightGrams: '900719925474099317',
    };
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: number(), lines: goods('1'), ...words }));
    const { json } = await send(shipments, 'GET', `/v1/orders/${orderNumber}/shipments`);
    expect(json['items']).toMatchObject([
      {
        ...{ carrier: 'Par\ufffdcel', trackingNumber: 'PX\ufffd' },
        ...{ grossWeightGrams: '900719925474099317', orderVersion: 3 },
      },
    ]);
  });
});
