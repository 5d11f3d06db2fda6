import { Global, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Metrics } from '../../../src/health';
import { addChannels, ChannelCatalog } from '../../../src/messaging/channels';
import { OutboxModule, type Relay } from '../../../src/messaging/outbox';
import { CLOCK, systemClock } from '../../../src/platform/clock';
import { ConfigModule, loadConfig } from '../../../src/platform/config';
import { Database, DatabaseModule, query } from '../../../src/platform/database';
import { createHttpApp } from '../../../src/platform/http';
import { createLogger, TelemetryModule } from '../../../src/platform/telemetry';
import { type NewApiKey, StaffModule } from '../../../src/staff';
import { giveKey } from '../../support/staff';

const RELAY = Symbol('Relay');

export interface OutboxApp {
  app: NestFastifyApplication;
  database: Database;
  metrics: Metrics;
  /** As an administrator, unless another key is given. */
  send(method: 'GET' | 'POST', url: string, body?: unknown, token?: string): Promise<Answer>;
  keyOf(change: Partial<NewApiKey>): Promise<{ id: string; token: string }>;
  /** Key of the administrator. */
  id: string;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  items: Record<string, unknown>[];
}

/** The outbox room's HTTP on this database, by injection, with the partners acme and umbra. The relay, if any, runs elsewhere. */
export async function startOutboxApp(url: string, relay: Relay | null = null): Promise<OutboxApp> {
  const config = loadConfig({ DATABASE_URL: url, KAFKA_BROKERS: 'unused:1', LOG_LEVEL: 'silent' });
  const log = createLogger('silent', 'test');
  const metrics = new Metrics();
  @Global()
  @Module({
    providers: [
      { provide: CLOCK, useValue: systemClock },
      { provide: RELAY, useValue: relay },
      { provide: Metrics, useValue: metrics },
      { provide: ChannelCatalog, inject: [Database], useFactory: (database: Database) => new ChannelCatalog(database) },
    ],
    exports: [CLOCK, RELAY, Metrics, ChannelCatalog],
  })
  class Wiring {}
  @Module({
    imports: [
      ConfigModule.forRoot(config),
      TelemetryModule.forRoot(log),
      DatabaseModule.forRoot({ entities: [], migrations: [] }),
      Wiring,
      StaffModule,
      OutboxModule.forRoot({ relay: RELAY, gauges: Metrics }),
    ],
  })
  class Root {}
  const app = await createHttpApp(Root, config, log);
  const database = app.get(Database);
  await database.dataSource.initialize();
  for (const partner of ['acme', 'umbra']) await addPartner(database, partner);
  await app.init();
  const http = app.getHttpAdapter().getInstance();
  await http.ready();
  const { id, token: own } = await giveKey(database);
  return {
    app,
    database,
    metrics,
    id,
    keyOf: (change) => giveKey(database, change),
    close: () => app.close(),
    send: async (method, path, body, token = own) => {
      const payload = body === undefined ? undefined : JSON.stringify(body);
      const headers = { authorization: `Bearer ${token}`, ...(payload ? { 'content-type': 'application/json' } : {}) };
      const answer = await http.inject({ method, url: path, headers, ...(payload ? { payload } : {}) });
      const json = (answer.body ? JSON.parse(answer.body) : {}) as Record<string, unknown>;
      return { status: answer.statusCode, body: json, items: (json['items'] ?? []) as Record<string, unknown>[] };
    },
  };
}

async function addPartner(database: Database, partner: string): Promise<void> {
  const now = new Date();
  const channel = { partner, direction: 'out', format: 'json', partitions: 4, maxMessageBytes: 1_048_588 } as const;
  await database.transaction(async (tx) => {
    await query(tx, `INSERT INTO partner (id, name, created_at) VALUES (:partner, :partner, :now)`, { partner, now });
    await addChannels(tx, [{ ...channel, topic: `orders.${partner}.request.v1`, allowMissingId: false }], now);
  });
}
