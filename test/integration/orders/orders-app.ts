import 'reflect-metadata';
import { Global, Module, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  type AnyContract,
  CONTRACTS,
  contractsFor,
  type Format,
  type OrderCancellationResponse,
  orderCancellationResponse,
  type OrderResponse,
  orderResponse,
  topicFor,
  typeOf,
} from '../../../src/contracts';
import { addChannels, ChannelCatalog } from '../../../src/messaging/channels';
import { createProcessor, type InboundBatch } from '../../../src/messaging/consumer';
import { Exchanges } from '../../../src/messaging/exchanges';
import type { InboundRecord } from '../../../src/messaging/kafka';
import { Outbox } from '../../../src/messaging/outbox';
import { type Codec, JsonCodec } from '../../../src/messaging/registry';
import { Notifications } from '../../../src/notifications';
import { IdempotencyKeyEntity, OrderEntity, OrderEventEntity, OrdersModule } from '../../../src/orders';
import { OrderCancellationResponseHandler } from '../../../src/orders/order-cancellation-response.handler';
import { OrderResponseHandler } from '../../../src/orders/order-response.handler';
import { Partners } from '../../../src/partners';
import { CLOCK, systemClock } from '../../../src/platform/clock';
import { ConfigModule, loadConfig } from '../../../src/platform/config';
import { Database, DatabaseModule } from '../../../src/platform/database';
import { createHttpApp } from '../../../src/platform/http';
import { createLogger, type Logger, TelemetryModule } from '../../../src/platform/telemetry';
import { StaffModule } from '../../../src/staff';
import { FILLING } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { giveKey, type TestKey } from '../../support/staff';

export interface OrdersApp {
  app: NestFastifyApplication;
  database: Database;
  /** Of an administrator; requests carry it. */
  key: TestKey;
  /** How often the relay was told that rows are committed. */
  wakes: () => number;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: string;
  json: Record<string, unknown>;
}

const wiring = (wake: () => void, codec: Codec) => {
  @Global()
  @Module({
    providers: [
      { provide: CLOCK, useValue: systemClock },
      { provide: ChannelCatalog, inject: [Database], useFactory: (database: Database) => new ChannelCatalog(database) },
      {
        provide: Outbox,
        inject: [ChannelCatalog],
        useFactory: (channels: ChannelCatalog) => new Outbox(channels, codec, wake),
      },
      { provide: Exchanges, useValue: new Exchanges() },
      { provide: Partners, inject: [Database], useFactory: (database: Database) => new Partners(database) },
      { provide: Notifications, inject: [Database], useFactory: (database: Database) => new Notifications(database) },
    ],
    exports: [CLOCK, ChannelCatalog, Outbox, Exchanges, Partners, Notifications],
  })
  class Wiring {}
  return Wiring;
};

interface OrdersOptions {
  logger?: Logger;
  databaseUrl?: string;
  /** Default: plain JSON. */
  codec?: Codec;
  /** Beside what every one of them has. */
  env?: NodeJS.ProcessEnv;
  /** Rooms beside orders. */
  modules?: Type[];
}

/** The orders room on a database of its own, with the partners acme and umbra, which speak plain JSON; HTTP by injection. */
export async function startOrders(options: OrdersOptions = {}): Promise<OrdersApp> {
  const config = loadConfig({
    DATABASE_URL: options.databaseUrl ?? (await freshDatabase()),
    KAFKA_BROKERS: 'unused:1',
    LOG_LEVEL: 'silent',
    ...FILLING,
    ...options.env,
  });
  let wakes = 0;
  @Module({
    imports: [
      ConfigModule.forRoot(config),
      TelemetryModule.forRoot(options.logger ?? createLogger('silent', 'test')),
      DatabaseModule.forRoot({ entities: [OrderEntity, OrderEventEntity, IdempotencyKeyEntity], migrations: [] }),
      wiring(() => void wakes++, options.codec ?? new JsonCodec()),
      StaffModule,
      OrdersModule,
      ...(options.modules ?? []),
    ],
  })
  class Root {}
  const app = await createHttpApp(Root, config, options.logger ?? createLogger('silent', 'test'));
  const database = app.get(Database);
  await database.dataSource.initialize();
  for (const id of ['acme', 'umbra']) await addPartner(database, id, 'json');
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  const key = await giveKey(database);
  return { app, database, key, wakes: () => wakes, close: () => app.close() };
}

/** A partner whose channels speak this format. */
export async function addPartner(database: Database, id: string, format: Format): Promise<void> {
  const now = new Date();
  await database.transaction(async (tx) => {
    await new Partners(database).add(tx, { id, name: id, createdAt: now });
    await addChannels(
      tx,
      contractsFor(CONTRACTS, id).map((contract) => ({
        partner: id,
        topic: topicFor(contract, id),
        direction: contract.direction,
        format,
        partitions: 4,
        maxMessageBytes: 1_048_588,
        allowMissingId: false,
      })),
      now,
    );
  });
}

/** The consumer's half of the program behind the fetch: records in, effects and outcomes in the tables. */
export async function consumerOf({ app, database }: OrdersApp): Promise<ReturnType<typeof createProcessor>> {
  const channels = app.get(ChannelCatalog);
  await channels.load();
  const responses = app.get(OrderResponseHandler);
  const cancellations = app.get(OrderCancellationResponseHandler);
  const config = { consumerBatchSize: 500, consumerLingerMs: 0, databasePoolSize: 2 };
  const logger = createLogger('silent', 'test');
  return createProcessor({ config, database, channels, codec: new JsonCodec(), logger }, (contract, batch) =>
    contract.name === orderCancellationResponse.name
      ? cancellations.handle(batch as InboundBatch<OrderCancellationResponse>)
      : responses.handle(batch as InboundBatch<OrderResponse>),
  );
}

let answers = 0n;
/** A partner's answer as it lies in Kafka. */
export function answerRecord(
  partner: string,
  correlationId: string,
  value: Pick<OrderResponse, 'orderNumber' | 'responseCode'>,
  contract: AnyContract = orderResponse,
): InboundRecord {
  const offset = answers++;
  return {
    topic: topicFor(orderResponse, partner),
    partition: 0,
    offset,
    timestamp: Date.now(),
    key: Buffer.from(value.orderNumber),
    value: Buffer.from(JSON.stringify({ issuedAt: '2026-03-01T10:00:00Z', ...value })),
    headers: { ce_id: `answer-${offset}`, ce_type: typeOf(contract), ce_correlationid: correlationId },
  };
}

/** Sends one request with the administrator's key (or the headers' own) and reads its answer; `body` is sent as it is when it is a string. */
export async function send(
  { app, key }: Pick<OrdersApp, 'app' | 'key'>,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await app.inject({
    method,
    url,
    headers: { ...key.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const isJson = /json/.test(String(response.headers['content-type']));
  return {
    status: response.statusCode,
    headers: response.headers,
    body: response.body,
    json: isJson ? (JSON.parse(response.body) as Record<string, unknown>) : {},
  };
}

export const databaseUrl = ({ dataSource }: Database): string =>
  'url' in dataSource.options ? String(dataSource.options.url) : '';

let drawn = 0;
/** An order that breaks no rule, with a number of its own. */
export const anOrder = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
  orderNumber: `T-${process.pid}-${++drawn}`,
  partner: 'acme',
  currency: 'EUR',
  lines: [
    { lineNumber: 1, item: 'A-100', quantity: '12.5', unit: 'C62', unitPrice: '9.99' },
    { lineNumber: 2, item: 'B-200', quantity: '1', unit: 'KGM', unitPrice: '0.000001' },
  ],
  ...change,
});

export const place = (orders: Pick<OrdersApp, 'app' | 'key'>, body: unknown, key = `k-${++drawn}`): Promise<Answer> =>
  send(orders, 'POST', '/v1/orders', body, { 'idempotency-key': key });

export const cancel = (
  orders: Pick<OrdersApp, 'app' | 'key'>,
  orderNumber: string,
  body: unknown = { reason: 'ordered twice' },
  key = `c-${++drawn}`,
): Promise<Answer> => send(orders, 'POST', `/v1/orders/${orderNumber}/cancellation`, body, { 'idempotency-key': key });

/** Correlation ids of an order's exchanges of a kind, in the order in which they were opened. */
export async function exchangesOf({ database }: OrdersApp, orderNumber: string, kind: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'SELECT correlation_id AS id FROM exchange WHERE order_number = :orderNumber AND kind = :kind ORDER BY request_seq',
    { orderNumber, kind },
  );
  return rows.map(({ id }) => id);
}

/** Rows of every table that an accepted order writes. */
export async function counts(database: Database): Promise<Record<string, number>> {
  const [row] = await database.query<Record<string, number>>(
    `SELECT (SELECT count(*)::int FROM orders) AS orders, (SELECT count(*)::int FROM order_event) AS events,
            (SELECT count(*)::int FROM exchange) AS exchanges, (SELECT count(*)::int FROM outbox_message) AS outbox,
            (SELECT count(*)::int FROM idempotency_key) AS keys`,
  );
  return row ?? {};
}
