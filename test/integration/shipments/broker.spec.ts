import 'reflect-metadata';
import {
  despatchAdvice,
  despatchReceipt,
  orderResponse,
  topicFor,
  typeOf,
  type AnyContract,
} from '../../../src/contracts';
import { Database } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { type Running, start } from '../../../src/start';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { produce, readAll, uniqueName } from '../../support/kafka';
import { onboard } from '../../support/partners';
import { giveKey, type TestKey } from '../../support/staff';
import { testRegistry } from '../../support/registry';
import { frame, publishAvro, unframe } from './published';

describe('a partner that speaks Avro, on a real broker and a real registry', () => {
  const partner = uniqueName('avro');
  let running: Running;
  let key: TestKey;
  let schemas: ReadonlyMap<AnyContract, number>;

  beforeAll(async () => {
    const registry = await testRegistry();
    const config = testConfig(await freshDatabase(), {
      SCHEMA_REGISTRY_URLS: registry,
      KAFKA_CONSUMER_GROUP: uniqueName('group'),
    });
    schemas = await publishAvro(registry, partner);
    running = await start(config, createLogger('silent', 'test'));
    await running.started;
    const database = running.app.get(Database);
    key = await giveKey(database);
    await onboard(database, config, { partner, partitions: 3 });
  });
  afterAll(() => running?.lifecycle.stop('test'));

  const call = async (path: string, init: RequestInit = {}): Promise<Record<string, unknown>> => {
    const response = await fetch(`${running.apiUrl}${path}`, { ...init, headers: { ...key.headers, ...init.headers } });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const say = (contract: AnyContract, id: string, correlationId: string, value: { orderNumber: string }) =>
    produce(topicFor(contract, partner), [
      {
        key: value.orderNumber,
        value: frame(contract, schemas.get(contract) as number, value),
        headers: {
          ...{ ce_specversion: '1.0', ce_id: id, ce_type: typeOf(contract), ce_source: `/${partner}` },
          ...{ ce_correlationid: correlationId, 'content-type': 'application/avro' },
        },
      },
    ]);
  const heard = async (contract: AnyContract) =>
    (await readAll(topicFor(contract, partner))).map((record) => ({
      key: String(record.key),
      ...unframe(contract, record.value as Buffer),
      headers: Object.fromEntries(Object.entries(record.headers).map(([name, value]) => [name, String(value)])),
    }));

  it('despatches an order in parts, and hears a receipt for each', async () => {
    const placed = await call('/v1/orders', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': uniqueName('key') },
      body: JSON.stringify({
        ...{ partner, currency: 'EUR' },
        lines: [{ lineNumber: 1, item: 'A', quantity: '12.5', unit: 'C62', unitPrice: '1' }],
      }),
    });
    const orderNumber = String(placed['orderNumber']);
    const story = await call(`/v1/orders/${orderNumber}/timeline`);
    const correlationId = (story['steps'] as { correlationId: string }[])[0]?.correlationId ?? '';
    const issuedAt = '2026-02-04T08:00:00.000Z';
    await say(orderResponse, 'answer', correlationId, {
      ...{ orderNumber, responseCode: 'AP', issuedAt, reason: null, lines: null },
    });
    const is = (state: string) =>
      eventually(async () => (await call(`/v1/orders/${orderNumber}`))['state'] === state, {
        ...{ timeout: 60_000, what: `the order is ${state}` },
      });
    await is('accepted');
    const advice = (despatchNumber: string, quantity: string) => ({
      ...{ orderNumber, despatchNumber, issuedAt, carrier: 'Parcel Ltd', trackingNumber: null },
      ...{ grossWeightGrams: 12500, lines: [{ lineNumber: 1, quantity }] },
    });
    await say(despatchAdvice, 'first', 'x-1', advice('D-1', '12.499999'));
    await is('partly-shipped');
    await say(despatchAdvice, 'too much', 'x-2', advice('D-2', '0.000002'));
    await say(despatchAdvice, 'rest', 'x-3', advice('D-3', '0.000001'));
    await is('shipped');
    const receipts = await eventually(
      async () => {
        const all = await heard(despatchReceipt);
        return all.length === 3 ? all : undefined;
      },
      { what: 'three receipts' },
    );
    expect(receipts).toMatchObject([
      { key: orderNumber, value: { despatchNumber: 'D-1', receiptCode: 'AP', reasonCode: null } },
      {
        value: {
          ...{ despatchNumber: 'D-2', receiptCode: 'RE', reasonCode: 'over-delivery' },
          reason: 'Line 1: 12.5 agreed, 12.499999 despatched before, 0.000002 in this despatch.',
        },
      },
      { value: { despatchNumber: 'D-3', receiptCode: 'AP' } },
    ]);
    expect(receipts[0]?.schemaId).toBe(schemas.get(despatchReceipt));
    expect(receipts.map(({ headers }) => [headers['ce_correlationid'], headers['ce_causationid']])).toEqual([
      ...[
        ['x-1', 'first'],
        ['x-2', 'too much'],
        ['x-3', 'rest'],
      ],
    ]);
    const { items } = await call(`/v1/orders/${orderNumber}/shipments`);
    expect(items).toMatchObject([
      { despatchNumber: 'D-1', grossWeightGrams: '12500', carrier: 'Parcel Ltd', trackingNumber: null },
      { despatchNumber: 'D-3', lines: [{ lineNumber: 1, quantity: '0.000001' }] },
    ]);
  });
});
