import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { MIGRATIONS } from '../migrations';
import { HealthModule, Metrics } from './health';
import { ChannelCatalog } from './messaging/channels';
import { createTransport, parkedAnswers, type ParleyTransport } from './messaging/consumer';
import { createDeadlineWatcher, type DeadlineWatcher, Exchanges } from './messaging/exchanges';
import {
  createBatchSource,
  createKafkaAdmin,
  createLanePublisher,
  type KafkaAdmin,
  type LanePublisher,
} from './messaging/kafka';
import { createRelay, Outbox, OutboxModule, type Relay, WarmUp } from './messaging/outbox';
import { type Codec, createCodec, createSchemaRegistry, type SchemaRegistry } from './messaging/registry';
import { ReplayOutcomes, TriageModule } from './messaging/triage';
import { IdempotencyKeyEntity, ORDER_OBSERVER, OrderEntity, OrderEventEntity, OrdersModule } from './orders';
import { PartitionCheck, PartnerEntity, Partners } from './partners';
import { CLOCK, systemClock } from './platform/clock';
import { CONFIG, type Config, ConfigModule } from './platform/config';
import { Database, DatabaseModule, DatabaseMonitor } from './platform/database';
import { messageOf } from './platform/errors';
import { LifecycleModule } from './platform/lifecycle';
import { LOGGER, type Logger, TelemetryModule } from './platform/telemetry';
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

const messaging: Provider[] = [
  { provide: CLOCK, useValue: systemClock },
  { provide: Metrics, useFactory: () => new Metrics() },
  { provide: ORDER_OBSERVER, inject: [Metrics], useFactory: (metrics: Metrics) => metrics.orderObserver },
  { provide: Exchanges, inject: [LOGGER], useFactory: (log: Logger) => new Exchanges(log) },
  {
    provide: SCHEMA_REGISTRY,
    inject: [CONFIG],
    useFactory: (config: Config): SchemaRegistry | null =>
      config.schemaRegistryUrls.length > 0 ? createSchemaRegistry(config) : null,
  },
  {
    provide: CODEC,
    inject: [SCHEMA_REGISTRY],
    useFactory: (registry: SchemaRegistry | null) => createCodec(registry ?? undefined),
  },
  { provide: ChannelCatalog, inject: [Database], useFactory: (database: Database) => new ChannelCatalog(database) },
  { provide: Partners, inject: [Database], useFactory: (database: Database) => new Partners(database) },
  { provide: KAFKA_ADMIN, inject: [CONFIG], useFactory: (config: Config) => createKafkaAdmin(config) },
  {
    provide: PartitionCheck,
    inject: [ChannelCatalog, KAFKA_ADMIN, LOGGER],
    useFactory: (channels: ChannelCatalog, admin: KafkaAdmin, log: Logger) => new PartitionCheck(channels, admin, log),
  },
  {
    provide: PUBLISHER,
    inject: [CONFIG, LOGGER],
    useFactory: (config: Config, log: Logger): LanePublisher | null =>
      config.roles.includes('relay') ? createLanePublisher(config, log, 'relay') : null,
  },
  {
    provide: RELAY,
    inject: [CONFIG, PUBLISHER, ChannelCatalog, Metrics, LOGGER],
    useFactory: (
      config: Config,
      publisher: LanePublisher | null,
      channels: ChannelCatalog,
      metrics: Metrics,
      log: Logger,
    ): Relay | null =>
      publisher &&
      createRelay({
        database: {
          connection: config.databaseUrl,
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
    inject: [Outbox, ChannelCatalog, SCHEMA_REGISTRY, LOGGER],
    useFactory: (outbox: Outbox, channels: ChannelCatalog, registry: SchemaRegistry | null, log: Logger) =>
      new WarmUp(outbox, channels, registry, log),
  },
  {
    provide: DEADLINES,
    inject: [CONFIG, Database, ChannelCatalog, Exchanges, Outbox, KAFKA_ADMIN, LOGGER],
    useFactory: (
      config: Config,
      database: Database,
      channels: ChannelCatalog,
      exchanges: Exchanges,
      outbox: Outbox,
      admin: KafkaAdmin,
      logger: Logger,
    ): DeadlineWatcher | null => {
      const rooms = { database, channels, exchanges, outbox, admin, parkedAnswers, logger, clock: systemClock };
      const isReader = config.roles.includes('consumer');
      return isReader ? createDeadlineWatcher({ ...rooms, group: config.kafkaConsumerGroup }) : null;
    },
  },
  {
    provide: TRANSPORT,
    inject: [CONFIG, Database, ChannelCatalog, CODEC, Outbox, KAFKA_ADMIN, LOGGER],
    useFactory: (
      config: Config,
      database: Database,
      channels: ChannelCatalog,
      codec: Codec,
      outbox: Outbox,
      admin: KafkaAdmin,
      log: Logger,
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
            makeSource: (topics, onBatch) =>
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
              }),
          })
        : null,
  },
];

/** What every room may need and no room makes: one set for the process. */
@Global()
@Module({ providers: messaging, exports: messaging.map((provider) => (provider as { provide: symbol }).provide) })
class MessagingModule {}

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
        MessagingModule,
        StaffModule,
        OutboxModule.forRoot({ relay: RELAY, gauges: Metrics }),
        TriageModule.forRoot({ codec: CODEC, gauges: Metrics }),
        OrdersModule,
        ShipmentsModule,
        HealthModule.forRoot({
          inject: [CONFIG, DatabaseMonitor, RELAY, TRANSPORT, PartitionCheck, WarmUp],
          useFactory: healthSignals,
        }),
      ],
    };
  }
}
