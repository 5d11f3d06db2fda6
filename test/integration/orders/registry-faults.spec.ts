import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type AnyContract,
  orderCancellation,
  orderRequest,
  schemaFileOf,
  subjectFor,
  topicFor,
} from '../../../src/contracts';
import { type Codec, createCodec, createSchemaRegistry, type SchemaRegistry } from '../../../src/messaging/registry';
import { type Placement, PlacementWriter } from '../../../src/orders/placement-writer';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { registerSchema, testRegistry } from '../../support/registry';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { addPartner, type Answer, anOrder, cancel, counts, type OrdersApp, place, startOrders } from './orders-app';

/** Longer than anything here takes, also on a machine that stands still for a while: a test ends the silence itself. */
const DEADLINE_MS = 30_000;

describe("while the registry of a partner's schemas fails", () => {
  let url: string;
  let wire: TcpProxy;
  let registry: SchemaRegistry;
  let orders: OrdersApp;

  beforeAll(async () => {
    url = await testRegistry();
    const { hostname, port, pathname } = new URL(url);
    wire = await startTcpProxy({ host: hostname, port: Number(port) });
    registry = createSchemaRegistry({
      schemaRegistryUrls: [`http://${wire.address}${pathname}`],
      schemaRegistryDeadlineMs: DEADLINE_MS,
    });
    orders = await startOrders({ codec: createCodec(registry) });
  });
  afterAll(async () => {
    await orders.close();
    await registry.close();
    await wire.close();
  });
  afterEach(() => {
    wire.refuse(false);
    wire.dropResponses(false);
    wire.cutAll();
  });

  /** A partner that speaks Avro: nothing of its schemas is known here yet. */
  async function newcomer(...published: AnyContract[]): Promise<string> {
    const partner = uniqueName('avro');
    await addPartner(orders.database, partner, 'avro');
    for (const contract of published) await publish(partner, contract);
    return partner;
  }
  const publish = (partner: string, contract: AnyContract) =>
    registerSchema(url, subjectFor(contract, topicFor(contract, partner)), {
      schema: readFileSync(schemaFileOf(contract, 'avro'), 'utf8'),
    });
  const down = () => {
    wire.refuse(true);
    wire.cutAll();
  };
  const refused = ({ status, json, headers }: Answer) => [status, json['code'], Number(headers['retry-after']) > 0];

  it('refuses that order alone, writes nothing of it, and takes the same key when the registry is back', async () => {
    const partner = await newcomer(orderRequest);
    down();
    const body = anOrder({ partner });
    const before = await counts(orders.database);
    expect(refused(await place(orders, body, 'cold'))).toEqual([503, 'registry-unavailable', true]);
    expect(await counts(orders.database)).toEqual(before);
    expect((await place(orders, anOrder())).status).toBe(201);
    wire.refuse(false);
    await eventually(async () => (await place(orders, body, 'cold')).status === 201, { what: 'the order is taken' });
  });

  it('holds up no order of another partner while the registry says nothing', async () => {
    const partner = await newcomer(orderRequest);
    wire.dropResponses(true);
    let isAnswered = false;
    const slow = place(orders, anOrder({ partner })).finally(() => (isAnswered = true));
    const others = await Promise.all(Array.from({ length: 20 }, () => place(orders, anOrder())));
    expect(others.map(({ status }) => status)).toEqual(Array<number>(20).fill(201));
    expect(isAnswered).toBe(false);
    await eventually(() => {
      wire.cutAll();
      return isAnswered;
    });
    expect(refused(await slow)).toEqual([503, 'registry-unavailable', true]);
  });

  it('takes orders and cancellations as ever once their schemas are known', async () => {
    const partner = await newcomer(orderRequest, orderCancellation);
    const first = await place(orders, anOrder({ partner }));
    expect((await cancel(orders, String(first.json['orderNumber']))).status).toBe(202);
    down();
    const second = await place(orders, anOrder({ partner }));
    expect(second.status).toBe(201);
    expect((await cancel(orders, String(second.json['orderNumber']))).status).toBe(202);
  });

  it('refuses a cancellation whose schema is not known, and takes the same key when the registry is back', async () => {
    const partner = await newcomer(orderRequest, orderCancellation);
    const orderNumber = String((await place(orders, anOrder({ partner }))).json['orderNumber']);
    down();
    const before = await counts(orders.database);
    const ask = () => cancel(orders, orderNumber, { reason: 'r' }, `cold-${orderNumber}`);
    expect(refused(await ask())).toEqual([503, 'registry-unavailable', true]);
    expect(await counts(orders.database)).toEqual(before);
    wire.refuse(false);
    await eventually(async () => (await ask()).status === 202, { what: 'the cancellation is taken' });
  });

  it('says of a schema that nobody published that it is not published, until it is', async () => {
    const partner = await newcomer();
    const body = anOrder({ partner });
    expect(refused(await place(orders, body, 'unpublished'))).toEqual([503, 'schema-unpublished', true]);
    await publish(partner, orderRequest);
    await eventually(async () => (await place(orders, body, 'unpublished')).status === 201, {
      what: 'the order is taken',
    });
  });

  it('refuses within a shared transaction only the orders whose bytes can not be made', async () => {
    const partner = await newcomer(orderRequest);
    down();
    const writer = orders.app.get(PlacementWriter);
    const orderTo = (to: string): Placement => ({
      orderNumber: uniqueName('B'),
      caller: 'c',
      callerName: 'erp',
      key: randomUUID(),
      keyLock: randomBytes(8).readBigInt64BE().toString(),
      requestHash: Buffer.alloc(32),
      partner: to,
      currency: 'EUR',
      lines: [{ lineNumber: 1, item: 'A', quantity: '1', unit: 'C62', unitPrice: '1' }],
      linesJson: '[{"lineNumber":1,"item":"A","quantity":"1","unit":"C62","unitPrice":"1"}]',
      contact: undefined,
      contactJson: null,
      messageId: randomUUID(),
      correlationId: randomUUID(),
      traceparent: '',
    });
    expect(await writer.write([orderTo('acme'), orderTo(partner), orderTo('umbra')])).toMatchObject([
      { kind: 'placed' },
      { kind: 'refused', error: { code: 'registry-unavailable' } },
      { kind: 'placed' },
    ]);
  });

  it('names a format that nothing here speaks without a registry', async () => {
    const codec: Codec = createCodec(undefined);
    const other = await startOrders({ codec });
    try {
      await addPartner(other.database, 'nosy', 'avro');
      const answer = await place(other, anOrder({ partner: 'nosy' }));
      expect([answer.status, answer.json['code']]).toEqual([503, 'registry-unconfigured']);
      expect((await place(other, anOrder())).status).toBe(201);
    } finally {
      await other.close();
    }
  });
});
