import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { usesBroker } from './app.health';
import { AppModule, DEADLINES, KAFKA_ADMIN, PUBLISHER, RELAY, SCHEMA_REGISTRY, TRANSPORT } from './app.module';
import { CONTRACTS } from './contracts';
import { isForeign, listenForManagement, Metrics } from './health';
import { ChannelCatalog } from './messaging/channels';
import type { ParleyTransport } from './messaging/consumer';
import { type DeadlineWatcher, Exchanges } from './messaging/exchanges';
import type { KafkaAdmin, LanePublisher } from './messaging/kafka';
import { ensurePartitions, maintainPartitions, type Relay, WarmUp } from './messaging/outbox';
import type { SchemaRegistry } from './messaging/registry';
import { createWatchers, Notifications } from './notifications';
import { NOTIFICATION_FIGURES, type NotificationFigures, NOTIFIER, type Notifier } from './notifications';
import { PartnerFigures } from './orders';
import { PartitionCheck, Partners } from './partners';
import { systemClock } from './platform/clock';
import { type Config, watchSecrets } from './platform/config';
import { Database, DatabaseMonitor } from './platform/database';
import { AppError, messageOf } from './platform/errors';
import { createHttpApp } from './platform/http';
import { Lifecycle } from './platform/lifecycle';
import { retryForever, sleep, sweeping } from './platform/polling';
import type { Logger } from './platform/telemetry';

/** A started process. */
export interface Running {
  app: NestFastifyApplication;
  lifecycle: Lifecycle;
  managementUrl: string;
  /** Undefined without the role api, and until the database was there once. */
  apiUrl: string | undefined;
  /** Settles when the start is complete: database reached, schema as expected, API listening, relay and consumer running. */
  started: Promise<void>;
}

const MAINTENANCE_MS = 60_000;
const PREPARE_RETRY = { initialMs: 250, maxMs: 5000 };
/** How often connections whose answer is out are closed, while the API ends. */
const IDLE_CHECK_MS = 50;

/**
 * Starts the roles of the configuration. The probes answer first; then the database is waited for, as long as it takes;
 * then the API listens, and relay and consumer look for the broker on their own. Rejects when a port is taken or the wiring
 * is incomplete.
 */
export async function start(config: Config, log: Logger): Promise<Running> {
  const app = await createHttpApp(AppModule.forRoot(config, log), config, log);
  const transport = app.get<ParleyTransport | null>(TRANSPORT);
  if (transport) app.connectMicroservice({ strategy: transport }, { inheritAppConfig: true });
  const http = app.getHttpAdapter().getInstance();
  http.addHook('onRequest', (request, reply, done) =>
    isForeign(request.raw, request.routeOptions.url) ? reply.callNotFound() : done(),
  );
  await app.init();
  app.get(Exchanges).deadlines.check(CONTRACTS);
  await http.ready();
  const management = await listenForManagement(
    (request: IncomingMessage, response: ServerResponse) => http.routing(request, response),
    {
      host: config.managementHost,
      port: config.managementPort,
    },
  ).catch((error: unknown) => refused(error, 'MANAGEMENT_PORT', config.managementPort));
  const lifecycle = app.get(Lifecycle);
  void watchSecrets(config, log, lifecycle.signal);
  const running: Running = {
    app,
    lifecycle,
    managementUrl: urlOf(management.server),
    apiUrl: undefined,
    started: Promise.resolve(),
  };
  app.get(Metrics).watch(app.get<Relay | null>(RELAY), transport);
  planStop(running, management.server, config.shutdownTimeoutMs / 3);
  running.started = proceed(running, config, log);
  return running;
}

/** What needs the database. */
async function proceed(running: Running, config: Config, log: Logger): Promise<void> {
  const { app, lifecycle } = running;
  const { signal } = lifecycle;
  const database = app.get(Database);
  await app.get(DatabaseMonitor).ready(signal);
  // The database may go again, or another process hold the partitions: that is waited for, too.
  await retryForever(
    async () => {
      await ensurePartitions(database, { rows: config.outboxPartitionRows });
      await app.get(ChannelCatalog).load();
    },
    {
      policy: PREPARE_RETRY,
      signal,
      onFailure: (error, attempt, pauseMs) =>
        log.warn(
          { attempt, retry_in_ms: pauseMs, reason: messageOf(error) },
          'outbox partitions and channels are not ready',
        ),
    },
  );
  // Stopped meanwhile: what begins now, nobody would end.
  signal.throwIfAborted();
  if (usesBroker(config))
    void app
      .get(PartitionCheck)
      .run(signal)
      .catch(() => undefined);
  // The relay publishes bytes that others made, and a notifier none.
  if (config.roles.some((role) => role === 'api' || role === 'consumer')) void app.get(WarmUp).run(signal);
  void keepPartitions(database, config, log, signal);
  app.get<Relay | null>(RELAY)?.start();
  startNotifier(app, signal);
  await app.startAllMicroservices();
  const judging = app.get<DeadlineWatcher | null>(DEADLINES)?.run(signal);
  // What it asks a silent broker ends with the client.
  lifecycle.onStop('kafka', 'deadlines', async () => judging);
  if (config.roles.includes('consumer')) showFigures(app, signal);
  if (config.roles.includes('notifier')) watchPartners(app, config, log, signal);
  if (config.roles.includes('api')) {
    signal.throwIfAborted();
    await app
      .listen(config.httpPort, config.httpHost)
      .catch((error: unknown) => refused(error, 'HTTP_PORT', config.httpPort));
    running.apiUrl = urlOf(app.getHttpServer());
  }
  lifecycle.serving();
  log.info({ roles: config.roles, api: running.apiUrl, management: running.managementUrl }, 'started');
}

/** Claims nothing more as soon as the end begins; what was begun then is waited for with the consumer. */
function startNotifier(app: NestFastifyApplication, signal: AbortSignal): void {
  app.get<Notifier | null>(NOTIFIER)?.start(signal);
  void app.get<NotificationFigures | null>(NOTIFICATION_FIGURES)?.run(signal);
}

/** By one process of many it would do as well; each of the role has them, so that none is missed. */
function showFigures(app: NestFastifyApplication, signal: AbortSignal): void {
  const figures = app.get(PartnerFigures);
  figures.show(app.get(Metrics));
  void figures.run(signal);
}

/** Each process of the role looks; one does at a time. */
function watchPartners(app: NestFastifyApplication, config: Config, logger: Logger, signal: AbortSignal): void {
  const [database, partners, notifications] = [app.get(Database), app.get(Partners), app.get(Notifications)];
  void createWatchers(config, { database, partners, notifications, clock: systemClock, logger }).run(signal);
}

/** Partitions ahead of the numbers, and sent ones away after their time; in every role, since inserts stop without them. */
async function keepPartitions(database: Database, config: Config, log: Logger, signal: AbortSignal): Promise<void> {
  const policy = { rows: config.outboxPartitionRows, retentionMs: config.outboxRetentionHours * 3_600_000 };
  const maintain = async () => {
    const { created, dropped, refused: kept } = await maintainPartitions(database, policy, systemClock.now());
    if (created.length + dropped.length > 0) log.info({ created, dropped }, 'outbox partitions maintained');
    if (kept.length > 0)
      log.error(
        { kept, code: 'outbox-partition-unsent' },
        'old outbox partitions hold rows that were never sent; they are kept',
      );
  };
  await sweeping(maintain, {
    everyMs: MAINTENANCE_MS,
    signal,
    onFailure: (error) =>
      log.warn({ reason: messageOf(error) }, 'outbox partitions could not be maintained; tried again each minute'),
  });
}

/** @param patienceMs how long a client may take to end a request that it has begun */
function planStop({ app, lifecycle }: Running, management: Server, patienceMs: number): void {
  const server = app.getHttpServer();
  const closed = new AbortController();
  server.once('close', () => closed.abort());
  let closing = false;
  // New connections are refused, idle ones closed; what is being answered is answered.
  const refuse = () => {
    if (!server.listening) return;
    closing = true;
    server.close();
  };
  lifecycle.onStop('intake', 'HTTP intake', () => Promise.resolve(refuse()));
  lifecycle.onStop('consumer', 'consumer', async () => app.get<ParleyTransport | null>(TRANSPORT)?.close());
  lifecycle.onStop('consumer', 'notifier', async () => app.get<Notifier | null>(NOTIFIER)?.stop());
  lifecycle.onStop('relay', 'relay', async () => app.get<Relay | null>(RELAY)?.stop());
  lifecycle.onStop('http', 'HTTP', async () => {
    // The start may have come to listen since.
    refuse();
    if (!closing) return;
    // A connection that was busy is kept alive behind its answer.
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    await sleep(patienceMs, closed.signal);
    clearInterval(idle);
    server.closeAllConnections();
  });
  lifecycle.onStop('kafka', 'Kafka and registry clients', async () => {
    await app.get<LanePublisher | null>(PUBLISHER)?.close();
    await app.get<KafkaAdmin>(KAFKA_ADMIN).close();
    await app.get<SchemaRegistry | null>(SCHEMA_REGISTRY)?.close();
  });
  lifecycle.onStop('database', 'application and database', async () => {
    await app.close();
    management.close();
    management.closeAllConnections();
  });
}

function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function refused(error: unknown, key: string, port: number): never {
  if ((error as { code?: string }).code !== 'EADDRINUSE') throw error;
  throw new AppError('port-taken', `Port ${port} is taken.`, {
    cause: error,
    hint: `Set ${key} to a free port, or stop what listens there.`,
  });
}
