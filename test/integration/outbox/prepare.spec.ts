import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { type OrderRequest, orderRequest } from '../../../src/contracts';
import { addChannels, ChannelCatalog } from '../../../src/messaging/channels';
import { createLanePublisher, partitionOf } from '../../../src/messaging/kafka';
import { Outbox, type Outgoing } from '../../../src/messaging/outbox';
import { JsonCodec } from '../../../src/messaging/registry';
import { Database, query } from '../../../src/platform/database';
import { testConfig } from '../../support/config';
import { createTopic, readAll, uniqueName } from '../../support/kafka';
import { Bench, until } from './harness';

const LIMIT = 20_000;

describe('what is written into the outbox', () => {
  const bench = new Bench();
  const partner = uniqueName('acme');
  const topic = `orders.${partner}.request.v1`;
  let database: Database;
  let channels: ChannelCatalog;
  let outbox: Outbox;

  beforeAll(async () => {
    await bench.open();
    const dataSource = await new DataSource({
      type: 'postgres',
      url: bench.url,
      poolSize: 4,
      installExtensions: false,
    }).initialize();
    bench.onClose(() => dataSource.destroy());
    database = new Database(dataSource);
    const now = new Date();
    await database.transaction(async (tx) => {
      await query(tx, `INSERT INTO partner (id, name, created_at) VALUES (:partner, 'Acme', :now)`, { partner, now });
      const channel = {
        partner,
        format: 'json',
        partitions: 4,
        maxMessageBytes: LIMIT,
        allowMissingId: false,
      } as const;
      await addChannels(tx, [{ ...channel, topic, direction: 'out' }], now);
    });
    channels = new ChannelCatalog(database);
    outbox = new Outbox(channels, new JsonCodec());
  });
  afterAll(() => bench.close());

  const order = (orderNumber: string, lines = 1): OrderRequest => ({
    orderNumber,
    issuedAt: '2026-01-02T03:04:05.000Z',
    currency: 'EUR',
    lines: Array.from({ length: lines }, (_, n) => ({
      lineNumber: n + 1,
      item: 'x'.repeat(64),
      quantity: '1',
      unit: 'C62',
      unitPrice: '1.10',
    })),
  });
  const outgoing = (value: OrderRequest, to = partner): Outgoing<OrderRequest> => ({
    contract: orderRequest,
    partner: to,
    value,
    id: randomUUID(),
    time: new Date('2026-01-02T03:04:05.678Z'),
    aggregateType: 'order',
    correlationId: 'c-1',
  });
  const bytesOf = (lines: number) => JSON.stringify(order('PO-1', lines)).length;

  it('fails the caller before the commit when it is larger than the topic takes', async () => {
    await expect(outbox.prepare(outgoing(order('PO-1', 400)))).rejects.toMatchObject({
      code: 'message-too-large',
      retriable: false,
    });
  });

  it('fails the caller before the commit when it can not be encoded', async () => {
    const broken = { ...order('PO-1'), currency: 'euro' };
    await expect(outbox.prepare(outgoing(broken))).rejects.toMatchObject({
      code: 'document-invalid',
      violations: [{ pointer: '/currency' }],
    });
  });

  it('fails the caller when the partner has no such channel', async () => {
    await expect(outbox.prepare(outgoing(order('PO-1'), 'nobody'))).rejects.toMatchObject({ code: 'channel-unknown' });
  });

  it('has the partition that Kafka clients compute, the exact bytes, and numbers in the order of the messages', async () => {
    const numbers = Array.from({ length: 50 }, (_, n) => `PO-${n}`);
    const prepared = await Promise.all(numbers.map((number) => outbox.prepare(outgoing(order(number)))));
    // An id is the same in either case; PostgreSQL gives it back in lower case.
    const shouted = prepared.map((message) => ({ ...message, id: message.id.toUpperCase() }));
    const seqs = await database.transaction((tx) => outbox.add(tx, shouted));
    expect(seqs).toEqual([...seqs].sort((a, b) => Number(a) - Number(b)));
    const rows = await database.query<{
      seq: string;
      aggregateid: string;
      partition: number;
      payload: Buffer;
      time: Date;
    }>('SELECT seq, aggregateid, partition, payload, time FROM outbox_message ORDER BY seq');
    expect(rows.map((row) => row.seq)).toEqual(seqs);
    expect(rows.map((row) => row.aggregateid)).toEqual(numbers);
    for (const row of rows) {
      expect(row.partition).toBe(partitionOf(row.aggregateid, 4));
      expect(JSON.parse(row.payload.toString())).toEqual(order(row.aggregateid));
      expect(row.time.toISOString()).toBe('2026-01-02T03:04:05.678Z');
    }
    expect(await database.transaction((tx) => outbox.add(tx, []))).toEqual([]);
  });

  it('goes with the transaction', async () => {
    const prepared = await outbox.prepare(outgoing(order('PO-rolled-back')));
    const work = database.transaction(async (tx) => {
      await outbox.add(tx, [prepared]);
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    const rows = await database.query(`SELECT 1 FROM outbox_message WHERE aggregateid = 'PO-rolled-back'`);
    expect(rows).toEqual([]);
  });

  it('is taken by a topic of that size when it just passes, also next to others', async () => {
    await createTopic(topic, { exact: true, partitions: 4, config: { 'max.message.bytes': String(LIMIT) } });
    let lines = 1;
    while (bytesOf(lines + 1) + 'PO-1'.length + 1024 <= LIMIT) lines++;
    await database.query('TRUNCATE outbox_message');
    const prepared = await Promise.all(Array.from({ length: 6 }, () => outbox.prepare(outgoing(order('PO-1', lines)))));
    await expect(outbox.prepare(outgoing(order('PO-1', lines + 1)))).rejects.toMatchObject({
      code: 'message-too-large',
    });
    await database.transaction((tx) => outbox.add(tx, prepared));
    const kafka = createLanePublisher(testConfig(bench.url), pino({ level: 'silent' }), 'relay');
    bench.onClose(() => kafka.close());
    const relay = bench.relay(kafka, { maxMessageBytes: (name) => channels.find(name)?.maxMessageBytes });
    await until('the rows', async () => (await readAll(topic)).length === 6);
    expect((await readAll(topic)).map((record) => String(record.headers['ce_id']))).toEqual(prepared.map((p) => p.id));
    expect(relay.state.failingLanes).toEqual([]);
  });
});
