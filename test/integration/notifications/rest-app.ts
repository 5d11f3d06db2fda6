import 'reflect-metadata';
import { Global, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Notifications, type NotificationEvent } from '../../../src/notifications';
import { API_CONTROLLERS, API_PROVIDERS } from '../../../src/notifications/api/api.providers';
import { CORE_PROVIDERS } from '../../../src/notifications/core.providers';
import { CLOCK, systemClock } from '../../../src/platform/clock';
import { ConfigModule } from '../../../src/platform/config';
import { Database, DatabaseModule } from '../../../src/platform/database';
import { createHttpApp } from '../../../src/platform/http';
import { createLogger, TelemetryModule } from '../../../src/platform/telemetry';
import { type Role, ROLES, StaffModule } from '../../../src/staff';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { giveKey, type TestKey } from '../../support/staff';
import { type Answer, send } from '../orders/orders-app';

type Operation = `${'GET' | 'POST' | 'PUT' | 'DELETE'} ${string}`;

/** The room with its REST API on a database of its own; nothing sends. */
export interface RestApp {
  app: NestFastifyApplication;
  database: Database;
  keys: Record<Role, TestKey>;
  ask(who: Role | TestKey, operation: Operation, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Makes the notifications of these events, now. */
  raise(...events: NotificationEvent[]): Promise<number>;
  /** Makes a receiver that has these members beside a name. */
  put(id: string, body: object): Promise<Answer>;
  /** Entries of the audit, oldest first. */
  audited(action: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

@Global()
@Module({ providers: [{ provide: CLOCK, useValue: systemClock }], exports: [CLOCK] })
class Ground {}

/** Every channel configured, all of them at addresses where nobody listens. */
export const ALL_CHANNELS = {
  ...{ SMTP_HOST: '127.0.0.1', SMTP_PORT: '9', SMTP_TLS: 'none', EMAIL_FROM: 'orders@example.com' },
  ...{ SMS_URL: 'http://127.0.0.1:9', SMS_TOKEN: 'token', SMS_FROM: 'Parley' },
  ...{ WEBHOOK_SECRET_KEYS: Buffer.alloc(32, 7).toString('base64'), WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' },
};

export async function startRest(env: NodeJS.ProcessEnv = ALL_CHANNELS): Promise<RestApp> {
  const config = testConfig(await freshDatabase(), { ROLES: 'api', ...env });
  const log = createLogger('silent', 'test');
  @Module({
    imports: [
      ConfigModule.forRoot(config),
      TelemetryModule.forRoot(log),
      DatabaseModule.forRoot({ entities: [], migrations: [] }),
      Ground,
      StaffModule,
    ],
    controllers: API_CONTROLLERS,
    providers: [...CORE_PROVIDERS, ...API_PROVIDERS],
  })
  class Root {}
  const app = await createHttpApp(Root, config, log);
  const database = app.get(Database);
  await database.dataSource.initialize();
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  const keys = Object.fromEntries(
    await Promise.all(ROLES.map(async (role) => [role, await giveKey(database, { role, name: role })] as const)),
  ) as Record<Role, TestKey>;
  const ask: RestApp['ask'] = (who, operation, body, headers) => {
    const [method, url = ''] = operation.split(' ') as ['GET' | 'POST' | 'PUT' | 'DELETE', string?];
    return send({ app, key: typeof who === 'string' ? keys[who] : who }, method, url, body, headers);
  };
  return {
    ...{ app, database, keys, ask },
    raise: (...events) => database.transaction((tx) => app.get(Notifications).raise(tx, events, new Date())),
    put: (id, body) =>
      ask('operator', `PUT /v1/notification-receivers/${id}`, { name: id, subscriptions: [], ...body }),
    audited: (action) =>
      database.query(
        `SELECT caller, object, partner, reason, detail FROM audit_entry WHERE action = :action ORDER BY id`,
        { action },
      ),
    close: () => app.close(),
  };
}

let drawn = 0;
/** That a partner accepted an order: a new one each time. */
export function anAcceptance(change: Partial<NotificationEvent> = {}): NotificationEvent {
  const orderNumber = `N-${process.pid}-${++drawn}`;
  const at = new Date();
  return {
    ...{ id: `order/${orderNumber}/2`, kind: 'order-accepted', at, partner: 'acme', orderNumber },
    data: { orderNumber, partner: { id: 'acme', name: 'Acme Ltd' }, at: at.toISOString() },
    ...change,
  };
}

/** What another system asks for: to an address, unless told otherwise. */
export function aRequest(change: Partial<NotificationEvent> = {}): NotificationEvent {
  return {
    ...{ id: `request/${process.pid}-${++drawn}`, kind: 'message', at: new Date() },
    data: { title: 'Invoice for Kim Doe', text: 'It is ready.' },
    to: { channel: 'email', address: 'kim.doe@example.com' },
    requestHash: '00',
    ...change,
  };
}

/** A notification as it is shown to viewers. */
export type Shown = Record<string, unknown> & { id: string; version: number; standing: string; state: string };

export const itemsOf = (answer: Answer): Shown[] => answer.json['items'] as Shown[];

export const errorOf = ({ status, json }: Answer) => [status, json['code']];

/** A receiver with all that one may have. */
export const EVERYTHING = {
  name: 'Operations desk',
  email: 'ops@example.com',
  phone: '+4915112345678',
  webhookUrl: 'https://127.0.0.1:8443/hooks/s3cr3t-path',
  quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' },
  subscriptions: [
    { kind: 'order-accepted', channels: ['email', 'webhook'], partners: ['acme'] },
    { kind: 'order-overdue', channels: ['sms'] },
  ],
};

export const RECEIVERS = '/v1/notification-receivers';

/** Receivers as staff keep them; `rest` is asked for when it stands. */
export const receiversOf = (rest: () => RestApp) => ({
  put: (id: string, body: object, headers: Record<string, string> = {}) =>
    rest().ask('operator', `PUT ${RECEIVERS}/${id}`, { name: id, subscriptions: [], ...body }, headers),
  show: (id: string) => rest().ask('viewer', `GET ${RECEIVERS}/${id}`),
  match: (version: number) => ({ 'if-match': `"${version}"` }),
  entries: async (action: string, id: string) =>
    (await rest().audited(`notification-receiver.${action}`)).filter(
      ({ object }) => object === `notification-receiver/${id}`,
    ),
});
