import 'reflect-metadata';
import { orderResponse, topicFor, typeOf } from '../../../src/contracts';
import { Notifications } from '../../../src/notifications';
import { Database } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { type Running, start } from '../../../src/start';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { produce, uniqueName } from '../../support/kafka';
import { onboard } from '../../support/partners';
import { notificationsOf, subscribe } from '../../support/receivers';
import { SmsProviderServer } from '../../support/sms-provider';
import { giveKey, type TestKey } from '../../support/staff';

/** All that may be sent at once through one provider. */
const SLOTS = 3;

describe('orders while a provider answers nobody, on a real broker', () => {
  const partner = uniqueName('slow');
  let running: Running;
  let database: Database;
  let key: TestKey;
  let provider: SmsProviderServer;

  beforeAll(async () => {
    provider = await SmsProviderServer.start();
    provider.behaviour = { kind: 'hang', sent: false };
    const config = testConfig(await freshDatabase(), {
      ...provider.env,
      SMS_PER_SECOND: '1000',
      NOTIFICATION_CONCURRENCY: String(SLOTS),
      NOTIFICATION_LEASE_MS: '600000',
      KAFKA_CONSUMER_GROUP: uniqueName('group'),
    });
    running = await start(config, createLogger('silent', 'test'));
    await running.started;
    database = running.app.get(Database);
    key = await giveKey(database);
    await onboard(database, config, { partner, partitions: 3, format: 'json' });
    await subscribe(database, { id: 'on-call', kinds: ['order-accepted', 'order-overdue'], channels: ['sms'] });
  });
  afterAll(async () => {
    await provider?.stop();
    await running?.lifecycle.stop('test');
  });

  const call = async (path: string, init: RequestInit = {}): Promise<Record<string, unknown>> => {
    const response = await fetch(`${running.apiUrl}${path}`, { ...init, headers: { ...key.headers, ...init.headers } });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const placed = async () => {
    const order = await call('/v1/orders', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': uniqueName('key') },
      body: JSON.stringify({
        ...{ partner, currency: 'EUR' },
        lines: [{ lineNumber: 1, item: 'A', quantity: '12.5', unit: 'C62', unitPrice: '1' }],
      }),
    });
    const orderNumber = String(order['orderNumber']);
    const { steps } = await call(`/v1/orders/${orderNumber}/timeline`);
    return { orderNumber, correlationId: (steps as { correlationId: string }[])[0]?.correlationId ?? '' };
  };
  /** The partner's acceptance as it lies in Kafka. */
  const acceptance = (id: string, { orderNumber, correlationId }: Awaited<ReturnType<typeof placed>>) => ({
    key: orderNumber,
    value: JSON.stringify({ orderNumber, responseCode: 'AP', issuedAt: '2026-02-04T08:00:00.000Z' }),
    headers: {
      ...{ ce_specversion: '1.0', ce_id: id, ce_type: typeOf(orderResponse), ce_source: `/${partner}` },
      ...{ ce_correlationid: correlationId, 'content-type': 'application/json' },
    },
  });
  const accepted = (orderNumber: string) =>
    eventually(async () => (await call(`/v1/orders/${orderNumber}`))['state'] === 'accepted', {
      ...{ timeout: 60_000, what: `${orderNumber} is accepted` },
    });
  const countOf = async (state: string) =>
    (
      await database.query<{ n: number }>('SELECT count(*)::int AS n FROM notification WHERE state = :state', { state })
    )[0]?.n;

  it('are accepted and told, while all of its slots are taken and a thousand wait', async () => {
    const at = new Date();
    const events = Array.from({ length: 1000 }, (_, n) => ({
      ...{ id: `backlog/${n}`, kind: 'order-overdue', at, partner, orderNumber: `B-${n}` },
      data: {
        orderNumber: `B-${n}`,
        partner: { id: partner, name: partner },
        at: at.toISOString(),
        deadline: at.toISOString(),
      },
    }));
    await database.transaction((tx) => running.app.get(Notifications).raise(tx, events, at));
    await eventually(() => provider.received.length >= SLOTS, { what: 'every slot is taken' });
    const orders = await Promise.all(Array.from({ length: 20 }, placed));
    await produce(
      topicFor(orderResponse, partner),
      orders.map((order, n) => acceptance(`a-${n}`, order)),
    );
    for (const { orderNumber } of orders) {
      await accepted(orderNumber);
      expect(await notificationsOf(database, orderNumber)).toMatchObject([
        { kind: 'order-accepted', state: 'pending' },
      ]);
    }
    // Fewer for a moment where a request has lasted as long as it may, and another is begun.
    expect(await countOf('sending')).toBeLessThanOrEqual(SLOTS);
    expect(await countOf('sent')).toBe(0);
  });

  it('are told once, although Kafka has the answer twice and under two ids', async () => {
    const order = await placed();
    const records = ['first', 'first', 'second', 'first'].map((id) => acceptance(`${order.orderNumber}-${id}`, order));
    await produce(topicFor(orderResponse, partner), records);
    await accepted(order.orderNumber);
    const outcomes = () =>
      database.query<{ id: string }>(`SELECT message_id AS id FROM inbox WHERE message_id LIKE :ids`, {
        ids: `${order.orderNumber}-%`,
      });
    await eventually(async () => (await outcomes()).length === 2, { what: 'both ids were taken' });
    const told = await notificationsOf(database, order.orderNumber);
    expect(told).toMatchObject([{ eventId: `order/${order.orderNumber}/2`, kind: 'order-accepted' }]);
  });
});
