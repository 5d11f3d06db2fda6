import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { MIGRATIONS } from '../migrations';
import { HealthModule, Metrics } from './health';
import { ChannelCatalog } from './messaging/channels';
import { createTransport, parkedAnswers, type ParleyTransport } from './messaging/consumer';
import { createDeadlineWatcher, type DeadlineWatcher, Exchanges } from './messaging/exchanges';
import {
  type BatchSource,
  type BatchSourceOptions,
  createBatchSource,
  createKafkaAdmin,
  createLanePublisher,
  createOwnRights,
  type KafkaAdmin,
  type LanePublisher,
} from './messaging/kafka';
import { createRelay, Outbox, OutboxModule, type Relay, WarmUp } from './messaging/outbox';
import { type Codec, createCodec, createSchemaRegistry, type SchemaRegistry } from './messaging/registry';
import { ReplayOutcomes, TriageModule } from './messaging/triage';
import { NOTIFICATION_FIGURES, NOTIFICATION_OBSERVER, NotificationsModule, NOTIFIER } from './notifications';
import { IdempotencyKeyEntity, ORDER_OBSERVER, OrderEntity, OrderEventEntity, OrdersModule } from './orders';
import { MissingRights, PartitionCheck, PartnerEntity, Partners, PartnersModule } from './partners';
import { CLOCK, systemClock } from './platform/clock';
import { CONFIG, type Config, ConfigModule } from './platform/config';
import { Database, DatabaseModule, DatabaseMonitor } from './platform/database';
import { messageOf } from './platform/errors';
import { LifecycleModule } from './platform/lifecycle';
import { type Logger, TelemetryModule } from './platform/telemetry';
import { ShipmentEntity, ShipmentsModule } from './shipments';
import { StaffModule } from './staff';
import { healthSignals } from './app.health';

/** Every table that TypeORM reads; held against the migrations by a test. */
export const ENTITIES = [PartnerEntity, OrderEntity, OrderEventEntity, IdempotencyKeyEntity, ShipmentEntity];

/** What a process has only in some of its roles: null otherwise. */
export const RELAY = Symbol('Relay');
export const PUBLISHER = Symbol('LanePublisher');
export const TRANSPORT = Symbol('ParleyTransport');
export const DEADLINES = Symbol('DeadlineWatcher');
export const KAFKA_ADMIN = Symbol('KafkaAdmin');
/** Null where none is configured: then documents travel as plain JSON only. */
export const SCHEMA_REGISTRY = Symbol('SchemaRegistry');
const CODEC = Symbol('Codec');

/** Channels, schemas, partners: what the other two work with. */
const ground = (config: Config, log: Logger): Provider[] => [
  { provide: CLOCK, useValue: systemClock },
  { provide: Metrics, useFactory: () => new Metrics() },
  { provide: ORDER_OBSERVER, inject: [Metrics], useFactory: (metrics: Metrics) => metrics.orderObserver },
  {
    provide: NOTIFICATION_OBSERVER,
    inject: [Metrics],
    useFactory: (metrics: Metrics) => metrics.notificationObserver,
  },
  { provide: Exchanges, useFactory: () => new Exchanges(log) },
  {
    provide: SCHEMA_REGISTRY,
    useFactory: (): SchemaRegistry | null =>
      config.schemaRegistryUrls.length > 0 ? createSchemaRegistry(config) : null,
  },
  {
    provide: CODEC,
    inject: [SCHEMA_REGISTRY],
    useFactory: (registry: SchemaRegistry | null) => createCodec(registry ?? undefined),
  },
  { provide: ChannelCatalog, inject: [Database], useFactory: (database: Database) => new ChannelCatalog(database) },
  { provide: Partners, inject: [Database], useFactory: (database: Database) => new Partners(database) },
  { provide: KAFKA_ADMIN, useFactory: () => createKafkaAdmin(config) },
  {
    provide: PartitionCheck,
    inject: [ChannelCatalog, KAFKA_ADMIN],
    useFactory: (channels: ChannelCatalog, admin: KafkaAdmin) =>
      new PartitionCheck(
        channels,
        admin,
        log,
        new MissingRights(() => createOwnRights(config), config.kafkaSaslUsername, config.kafkaConsumerGroup),
      ),
  },
];

/** From the outbox to the broker. */
const publishing = (config: Config, log: Logger): Provider[] => [
  {
    provide: PUBLISHER,
    useFactory: (): LanePublisher | null =>
      config.roles.includes('relay') ? createLanePublisher(config, log, 'relay') : null,
  },
  {
    provide: RELAY,
    inject: [PUBLISHER, ChannelCatalog, Metrics],
    useFactory: (publisher: LanePublisher | null, channels: ChannelCatalog, metrics: Metrics): Relay | null =>
      publisher &&
      createRelay({
        database: {
          connection: () => config.databaseUrl,
          connectTimeoutMs: config.databaseConnectTimeout,
          statementTimeoutMs: config.databaseStatementTimeout,
        },
        publisher,
        quarantine: () => createLanePublisher(config, log, 'relay-quarantine'),
        source: config.eventSource,
        instance: config.instanceId,
        log,
        leaseMs: config.relayLeaseMs,
        observer: metrics.relayObserver,
        maxMessageBytes: (topic) => channels.find(topic)?.maxMessageBytes,
      }),
  },
  {
    provide: Outbox,
    inject: [ChannelCatalog, CODEC, RELAY],
    useFactory: (channels: ChannelCatalog, codec: Codec, relay: Relay | null) =>
      new Outbox(channels, codec, () => relay?.wake()),
  },
  {
    provide: WarmUp,
    inject: [Outbox, ChannelCatalog, SCHEMA_REGISTRY],
    useFactory: (outbox: Outbox, channels: ChannelCatalog, registry: SchemaRegistry | null) =>
      new WarmUp(outbox, channels, registry, log),
  },
];

const sourceOf = (
  config: Config,
  log: Logger,
  topics: readonly string[],
  onBatch: BatchSourceOptions['onBatch'],
): BatchSource =>
  createBatchSource(config, log, {
    groupId: config.kafkaConsumerGroup,
    topics,
    onBatch,
    // A heartbeat may be missed five times.
    timing: {
      sessionTimeout: config.kafkaSessionTimeoutMs,
      heartbeat: Math.min(3000, config.kafkaSessionTimeoutMs / 6),
    },
    // Several crashes in a row: a new process is healthier than another try in this one.
    onFatal: (error) => {
      log.fatal(
        { reason: messageOf(error) },
        'the consumer cannot be kept alive: leaving, so that a new process takes over',
      );
      process.exit(1);
    },
  });

/** From the broker into the rooms. */
const reading = (config: Config, log: Logger): Provider[] => [
  {
    provide: DEADLINES,
    inject: [Database, ChannelCatalog, Exchanges, Outbox, KAFKA_ADMIN],
    useFactory: (
      database: Database,
      channels: ChannelCatalog,
      exchanges: Exchanges,
      outbox: Outbox,
      admin: KafkaAdmin,
    ): DeadlineWatcher | null => {
      const rooms = { database, channels, exchanges, outbox, admin, parkedAnswers, logger: log, clock: systemClock };
      const isReader = config.roles.includes('consumer');
      return isReader ? createDeadlineWatcher({ ...rooms, group: config.kafkaConsumerGroup }) : null;
    },
  },
  {
    provide: TRANSPORT,
    inject: [Database, ChannelCatalog, CODEC, Outbox, KAFKA_ADMIN],
    useFactory: (
      database: Database,
      channels: ChannelCatalog,
      codec: Codec,
      outbox: Outbox,
      admin: KafkaAdmin,
    ): ParleyTransport | null =>
      config.roles.includes('consumer')
        ? createTransport({
            config,
            database,
            channels,
            codec,
            outbox,
            logger: log,
            observer: new ReplayOutcomes(),
            protect: { config, admin, openPublisher: () => createLanePublisher(config, log, 'dead-letters') },
            makeSource: (topics, onBatch) => sourceOf(config, log, topics, onBatch),
          })
        : null,
  },
];

/** What every room may need and no room makes: one set for the process. */
@Global()
@Module({})
class MessagingModule {
  static forRoot(config: Config, log: Logger): DynamicModule {
    const providers = [ground, publishing, reading].flatMap((part) => part(config, log));
    const exports = providers.map((provider) => (provider as { provide: symbol }).provide);
    return { module: MessagingModule, providers, exports };
  }
}

/** The whole program. The only file that knows every room. */
@Module({})
export class AppModule {
  static forRoot(config: Config, log: Logger): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        TelemetryModule.forRoot(log),
        LifecycleModule,
        DatabaseModule.forRoot({ entities: ENTITIES, migrations: MIGRATIONS }),
        MessagingModule.forRoot(config, log),
        StaffModule,
        OutboxModule.forRoot({ relay: RELAY, gauges: Metrics }),
        TriageModule.forRoot({ codec: CODEC, gauges: Metrics }),
        PartnersModule.forRoot({ gauges: Metrics }),
        NotificationsModule.forRoot({ gauges: Metrics }),
        OrdersModule,
        ShipmentsModule,
        HealthModule.forRoot({
          inject: [
            ...[CONFIG, DatabaseMonitor, RELAY, TRANSPORT, PartitionCheck, WarmUp, DEADLINES],
            ...[NOTIFIER, NOTIFICATION_FIGURES],
          ],
          useFactory: healthSignals,
        }),
      ],
    };
  }
}
