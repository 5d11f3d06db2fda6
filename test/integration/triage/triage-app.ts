import 'reflect-metadata';
import { Global, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type AnyContract, orderResponse, topicFor, typeOf } from '../../../src/contracts';
import { Metrics } from '../../../src/health';
import { ChannelCatalog } from '../../../src/messaging/channels';
import {
  createParkedDrain,
  createProcessor,
  type InboundBatch,
  type InboundMessage,
  type Outcome,
} from '../../../src/messaging/consumer';
import type { InboundRecord } from '../../../src/messaging/kafka';
import { JsonCodec } from '../../../src/messaging/registry';
import { ReplayOutcomes, TriageModule } from '../../../src/messaging/triage';
import { CLOCK, systemClock } from '../../../src/platform/clock';
import { ConfigModule, loadConfig } from '../../../src/platform/config';
import { Database, DatabaseModule } from '../../../src/platform/database';
import { createHttpApp } from '../../../src/platform/http';
import { createLogger, TelemetryModule } from '../../../src/platform/telemetry';
import { StaffModule } from '../../../src/staff';
import { FILLING } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { giveKey, type TestKey } from '../../support/staff';
import { TestBatch } from '../consumer/records';
import { type Answer, addPartner, send } from '../orders/orders-app';

type Document = { orderNumber: string; [member: string]: unknown };
export type Decide = (message: InboundMessage<Document>) => Outcome | undefined;

export interface TriageApp {
  app: NestFastifyApplication;
  database: Database;
  metrics: Metrics;
  /** One of each role, and a support key of acme's alone. */
  keys: Record<'viewer' | 'support' | 'operator' | 'second' | 'acme', TestKey>;
  /** What a handler says; undefined: applied. */
  decide: Decide;
  /** `orderNumber/messageId` of what was applied, in order. */
  applied: string[];
  /** Gives records to the consumer, each topic as a batch. */
  deliver(...records: InboundRecord[]): Promise<void>;
  /** Lets the drain do all that is due. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

const CODEC = Symbol('Codec');
const logger = createLogger('silent', 'test');

@Global()
@Module({
  providers: [
    { provide: CLOCK, useValue: systemClock },
    { provide: CODEC, useValue: new JsonCodec() },
    { provide: Metrics, useFactory: () => new Metrics() },
    { provide: ChannelCatalog, inject: [Database], useFactory: (database: Database) => new ChannelCatalog(database) },
  ],
  exports: [CLOCK, CODEC, Metrics, ChannelCatalog],
})
class Wiring {}

/** The room of triage on a database of its own, with the partners acme and umbra; HTTP by injection, records by hand. */
export async function startTriage(env: Record<string, string> = {}): Promise<TriageApp> {
  const config = loadConfig({
    DATABASE_URL: await freshDatabase(),
    KAFKA_BROKERS: 'unused:1',
    LOG_LEVEL: 'silent',
    ...FILLING,
    ROLES: 'relay',
    ...env,
  });
  @Module({
    imports: [
      ConfigModule.forRoot(config),
      TelemetryModule.forRoot(logger),
      DatabaseModule.forRoot({ entities: [], migrations: [] }),
      Wiring,
      StaffModule,
      TriageModule.forRoot({ codec: CODEC, gauges: Metrics }),
    ],
  })
  class Root {}
  const app = await createHttpApp(Root, config, logger);
  const database = app.get(Database);
  await database.dataSource.initialize();
  for (const id of ['acme', 'umbra']) await addPartner(database, id, 'json');
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  await app.get(ChannelCatalog).load();
  const triage: TriageApp = {
    ...{ app, database, metrics: app.get(Metrics), applied: [], decide: () => undefined },
    keys: {
      viewer: await giveKey(database, { role: 'viewer' }),
      support: await giveKey(database, { role: 'support' }),
      operator: await giveKey(database, { role: 'operator' }),
      second: await giveKey(database, { role: 'operator' }),
      acme: await giveKey(database, { role: 'operator', partners: ['acme'] }),
    },
    ...consuming(app, database, (contract, batch) => handle(triage, contract, batch)),
  };
  return triage;
}

type Dispatch = (contract: AnyContract, batch: InboundBatch<unknown>) => Promise<Outcome[]>;

function consuming(app: NestFastifyApplication, database: Database, dispatch: Dispatch) {
  const channels = app.get(ChannelCatalog);
  const config = { consumerBatchSize: 500, consumerLingerMs: 0, databasePoolSize: 4 };
  const options = { config, database, channels, codec: new JsonCodec(), logger, observer: new ReplayOutcomes() };
  const processor = createProcessor(options, dispatch);
  const drain = createParkedDrain(options, dispatch);
  return {
    deliver: async (...records: InboundRecord[]) => {
      const topics = Map.groupBy(records, ({ topic }) => topic);
      for (const batch of topics.values()) await processor.process(new TestBatch(batch));
    },
    drain: async () => {
      while (await drain.pass());
    },
    close: async () => {
      await processor.close();
      await app.close();
    },
  };
}

async function handle(triage: TriageApp, contract: AnyContract, batch: InboundBatch<unknown>): Promise<Outcome[]> {
  const waiting = new Set<string>();
  return (batch.messages as readonly InboundMessage<Document>[]).map((message): Outcome => {
    if (message.key !== null && waiting.has(message.key)) return { kind: 'held' };
    const outcome = triage.decide(message) ?? { kind: 'applied' };
    if (outcome.kind === 'applied') triage.applied.push(`${message.value.orderNumber}/${message.id}`);
    else if (message.key !== null && contract.laterMessages === 'hold') waiting.add(message.key);
    return outcome;
  });
}

let delivered = 0n;
/** A valid answer of acme's; `change` members of the document, `shape` of the record. */
export function answer(
  orderNumber: string,
  change: Record<string, unknown> = {},
  shape: Partial<InboundRecord> & { id?: string; partner?: string } = {},
): InboundRecord {
  const { id = `m-${++delivered}`, partner = 'acme', ...record } = shape;
  const document = { orderNumber, responseCode: 'AP', issuedAt: '2026-03-01T10:00:00Z', ...change };
  return {
    topic: topicFor(orderResponse, partner),
    partition: 0,
    offset: delivered++,
    timestamp: Date.now(),
    key: Buffer.from(orderNumber),
    value: Buffer.from(JSON.stringify(document)),
    ...record,
    headers: { ce_id: id, ce_type: typeOf(orderResponse), ce_correlationid: `c-${id}`, ...record.headers },
  };
}

/** An answer that breaks its contract in one place. */
export const broken = (orderNumber: string, shape: Parameters<typeof answer>[2] = {}): InboundRecord =>
  answer(orderNumber, { responseCode: 'x' }, shape);

/** One request under a key; `operation` is `GET /path`. More headers as given. */
export function ask(
  { app, keys }: TriageApp,
  who: keyof TriageApp['keys'],
  operation: `${Parameters<typeof send>[1]} ${string}`,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const [method, url = ''] = operation.split(' ') as [Parameters<typeof send>[1], string?];
  return send({ app, key: keys[who] }, method, url, body, headers);
}

export interface Row {
  id: string;
  version: number;
  state: string;
  key: string;
  [member: string]: unknown;
}

export async function itemsOf(triage: TriageApp, url: string, who: keyof TriageApp['keys'] = 'viewer'): Promise<Row[]> {
  const found = await ask(triage, who, `GET ${url}`);
  expect(found).toMatchObject({ status: 200 });
  return found.json['items'] as Row[];
}

/** The dead letters of an order, newest first. */
export const lettersOf = (triage: TriageApp, order: string, state = 'all'): Promise<Row[]> =>
  itemsOf(triage, `/v1/dead-letters?order=${order}&state=${state}`);

export const ifMatch = (row: Pick<Row, 'version'>): Record<string, string> => ({ 'if-match': `"${row.version}"` });

export const auditOf = (triage: TriageApp, object: string): Promise<Record<string, unknown>[]> =>
  triage.database.query(
    'SELECT caller, action, reason, partner, detail FROM audit_entry WHERE object = :object ORDER BY id',
    {
      object,
    },
  );
