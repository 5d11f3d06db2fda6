import 'reflect-metadata';
import { Global, Module } from '@nestjs/common';
import {
  CONTRACTS,
  contractsFor,
  type DespatchAdvice,
  despatchAdvice,
  type DespatchReceipt,
  type Format,
  type OrderResponse,
  topicFor,
  typeOf,
} from '../../../src/contracts';
import { addChannels, ChannelCatalog } from '../../../src/messaging/channels';
import { createParkedDrain, createProcessor, type InboundBatch } from '../../../src/messaging/consumer';
import { Exchanges } from '../../../src/messaging/exchanges';
import type { InboundRecord } from '../../../src/messaging/kafka';
import { Outbox } from '../../../src/messaging/outbox';
import { type Codec, JsonCodec } from '../../../src/messaging/registry';
import { Notifications } from '../../../src/notifications';
import { IdempotencyKeyEntity, OrderEntity, OrderEventEntity, OrdersModule } from '../../../src/orders';
import { OrderResponseHandler } from '../../../src/orders/order-response.handler';
import { Partners } from '../../../src/partners';
import { CLOCK, systemClock } from '../../../src/platform/clock';
import { ConfigModule, loadConfig } from '../../../src/platform/config';
import { Database, DatabaseModule } from '../../../src/platform/database';
import { createHttpApp } from '../../../src/platform/http';
import { createLogger, TelemetryModule } from '../../../src/platform/telemetry';
import { ShipmentEntity, ShipmentsModule } from '../../../src/shipments';
import { DespatchAdviceHandler } from '../../../src/shipments/despatch-advice.handler';
import { StaffModule } from '../../../src/staff';
import { FILLING } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { giveKey } from '../../support/staff';
import { TestBatch } from '../consumer/harness';
import { anOrder, answerRecord, type OrdersApp, place, send } from '../orders/orders-app';

const logger = createLogger('silent', 'test');

/** The program from the fetched batch and the HTTP request on, with the partners acme and umbra. */
export interface ShipmentsApp extends Omit<OrdersApp, 'wakes'> {
  /** Everything as one consumer process does it; several of them are several processes. */
  consumer(): ReturnType<typeof createProcessor>;
  /** Tries everything that waits for another attempt, whenever that is due, until nothing of it can be tried any more. */
  retryAll(): Promise<void>;
}

const wiring = (codec: Codec) => {
  @Global()
  @Module({
    providers: [
      { provide: CLOCK, useValue: systemClock },
      { provide: ChannelCatalog, inject: [Database], useFactory: (database: Database) => new ChannelCatalog(database) },
      {
        provide: Outbox,
        inject: [ChannelCatalog],
        useFactory: (channels: ChannelCatalog) => new Outbox(channels, codec),
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

/** `codec` is the outbox's, and `format` what the channels say; partners write JSON whatever they say. */
export async function startShipments(
  { codec, format }: { codec: Codec; format: Format } = { codec: new JsonCodec(), format: 'json' },
): Promise<ShipmentsApp> {
  const config = loadConfig({
    DATABASE_URL: await freshDatabase(),
    KAFKA_BROKERS: 'unused:1',
    LOG_LEVEL: 'silent',
    ...FILLING,
  });
  const entities = [OrderEntity, OrderEventEntity, IdempotencyKeyEntity, ShipmentEntity];
  @Module({
    imports: [
      ConfigModule.forRoot(config),
      TelemetryModule.forRoot(logger),
      DatabaseModule.forRoot({ entities, migrations: [] }),
      wiring(codec),
      StaffModule,
      OrdersModule,
      ShipmentsModule,
    ],
  })
  class Root {}
  const app = await createHttpApp(Root, config, logger);
  const database = app.get(Database);
  await database.dataSource.initialize();
  await seed(database, format);
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  const channels = app.get(ChannelCatalog);
  await channels.load();
  const consumers: ReturnType<typeof createProcessor>[] = [];
  const limits = { consumerBatchSize: 500, consumerLingerMs: 0, databasePoolSize: 2 };
  const parts = { config: limits, database, channels, codec: new JsonCodec(), outbox: app.get(Outbox), logger };
  const dispatch: Parameters<typeof createProcessor>[1] = (contract, batch) =>
    contract.name === despatchAdvice.name
      ? app.get(DespatchAdviceHandler).handle(batch as InboundBatch<DespatchAdvice>)
      : app.get(OrderResponseHandler).handle(batch as InboundBatch<OrderResponse>);
  const drain = createParkedDrain(parts, dispatch);
  return {
    app,
    database,
    key: await giveKey(database),
    consumer: () => {
      const processor = createProcessor(parts, dispatch);
      consumers.push(processor);
      return processor;
    },
    retryAll: async () => {
      await database.query(
        `UPDATE parked_inbound SET next_attempt_at = now() - interval '1 ms' WHERE state = 'waiting'`,
      );
      while (await drain.pass());
    },
    close: async () => {
      await drain.stop();
      await Promise.all(consumers.map((consumer) => consumer.close()));
      await app.close();
    },
  };
}

async function seed(database: Database, format: Format): Promise<void> {
  const partners = new Partners(database);
  const now = new Date();
  await database.transaction(async (tx) => {
    for (const id of ['acme', 'umbra']) {
      await partners.add(tx, { id, name: id, createdAt: now });
      const shape = { partner: id, format, partitions: 4, maxMessageBytes: 1_048_588 };
      const topics = new Map(
        contractsFor(CONTRACTS, id).map((contract) => [topicFor(contract, id), contract.direction]),
      );
      const channels = [...topics].map(([topic, direction]) => ({ ...shape, topic, direction, allowMissingId: false }));
      await addChannels(tx, channels, now);
    }
  });
}

export interface AdviceShape {
  partner?: string;
  /** Default: one that was never used. null: none. */
  correlationId?: string | null;
  id?: string;
  partition?: number;
}

let offsets = 0n;
/** An advice as it lies in Kafka. */
export function adviceRecord(
  value: Pick<DespatchAdvice, 'orderNumber' | 'despatchNumber' | 'lines'> & Partial<DespatchAdvice>,
  { partner = 'acme', correlationId, id, partition = 0 }: AdviceShape = {},
): InboundRecord {
  const offset = offsets++;
  return {
    topic: topicFor(despatchAdvice, partner),
    partition,
    offset,
    timestamp: Date.now(),
    key: Buffer.from(value.orderNumber),
    value: Buffer.from(JSON.stringify({ issuedAt: '2026-02-04T08:00:00.000Z', ...value })),
    headers: {
      ce_id: id ?? `advice-${offset}`,
      ce_type: typeOf(despatchAdvice),
      ...(correlationId === null ? {} : { ce_correlationid: correlationId ?? `exchange-${offset}` }),
    },
  };
}

/** Lines of the despatch of an order as `ordered` makes it: of line 1 so much, of line 2 so much. */
export const goods = (first?: string, second?: string): DespatchAdvice['lines'] =>
  [first, second].flatMap((quantity, index) => (quantity === undefined ? [] : [{ lineNumber: index + 1, quantity }]));

export interface Ordered {
  orderNumber: string;
  correlationId: string;
}

/** An order of 12.5 and 1 in state placed. */
export async function placed(shipments: ShipmentsApp, partner = 'acme'): Promise<Ordered> {
  const { orderNumber } = (await place(shipments, anOrder({ partner }))).json as { orderNumber: string };
  const { json } = await send(shipments, 'GET', `/v1/orders/${orderNumber}/timeline`);
  const [first] = json['steps'] as { correlationId: string }[];
  return { orderNumber, correlationId: first?.correlationId ?? '' };
}

export const acceptance = ({ orderNumber, correlationId }: Ordered, partner = 'acme'): InboundRecord =>
  answerRecord(partner, correlationId, { orderNumber, responseCode: 'AP' });

/** Gives records to a consumer as one batch. */
export async function deliver(
  consumer: ReturnType<typeof createProcessor>,
  ...records: readonly InboundRecord[]
): Promise<void> {
  await consumer.process(new TestBatch(records));
}

/** An order that the partner has accepted. */
export async function accepted(
  shipments: ShipmentsApp,
  consumer: ReturnType<typeof createProcessor>,
  partner = 'acme',
): Promise<string> {
  const ordered = await placed(shipments, partner);
  await deliver(consumer, acceptance(ordered, partner));
  return ordered.orderNumber;
}

export interface SentReceipt {
  id: string;
  correlationId: string;
  causationId: string;
  seq: string;
  value: DespatchReceipt;
}

/** Our receipts about an order, as they lie in the outbox. */
export async function receiptsOn(
  { database }: Pick<ShipmentsApp, 'database'>,
  orderNumber: string,
): Promise<SentReceipt[]> {
  const rows = await database.query<Omit<SentReceipt, 'value'> & { payload: Buffer }>(
    `SELECT id, correlationid AS "correlationId", causationid AS "causationId", seq, payload FROM outbox_message
     WHERE aggregateid = :orderNumber AND type = 'parley.despatch-receipt.v1' ORDER BY seq`,
    { orderNumber },
  );
  return rows.map(({ payload, ...row }) => ({ ...row, value: JSON.parse(payload.toString()) as DespatchReceipt }));
}

export const parkedOn = ({ database }: Pick<ShipmentsApp, 'database'>, orderNumber: string) =>
  database.query<{ state: string; code: string | null; topic: string }>(
    'SELECT state, code, topic FROM parked_inbound WHERE key = :orderNumber ORDER BY id',
    { orderNumber },
  );

export const showOrder = async (shipments: ShipmentsApp, orderNumber: string): Promise<Record<string, unknown>> =>
  (await send(shipments, 'GET', `/v1/orders/${orderNumber}`)).json;

/** Despatch numbers of an order's shipments, as the API lists them. */
export async function despatchesOf(shipments: ShipmentsApp, orderNumber: string): Promise<string[]> {
  const { json } = await send(shipments, 'GET', `/v1/orders/${orderNumber}/shipments`);
  return (json['items'] as { despatchNumber: string }[]).map(({ despatchNumber }) => despatchNumber);
}
