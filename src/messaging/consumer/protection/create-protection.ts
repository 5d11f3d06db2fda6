import { type Clock, systemClock } from '../../../platform/clock';
import type { Config } from '../../../platform/config';
import type { Database } from '../../../platform/database';
import { messageOf } from '../../../platform/errors';
import type { Logger } from '../../../platform/telemetry';
import type { ChannelCatalog } from '../../channels';
import type { KafkaAdmin, LanePublisher } from '../../kafka';
import type { Companion } from '../consumer';
import { DeadLetterPublisher } from '../dlt/dead-letter-publisher';
import { Unpublished } from '../dlt/unpublished';
import { CarefulReading } from './careful-reading';
import { DrainMarks } from './drain-marks';
import { FloodGate } from './flood-gate';
import { KeptLimit } from './kept-limit';
import { OneAtATime } from './one-at-a-time';
import { Presence } from './presence';
import { Retention } from './retention';
import { UnreadRecords } from './unread-records';
import { Watchdog } from './watchdog';

export interface ProtectionOptions {
  config: Pick<
    Config,
    | 'databaseUrl'
    | 'databaseConnectTimeout'
    | 'instanceId'
    | 'consumerBatchSize'
    | 'kafkaConsumerGroup'
    | 'watchdogMs'
    | 'deadLetterFloodPerMinute'
    | 'deadLetterFloodOpen'
    | 'suspendedHeldLimit'
    | 'inboxRetentionHours'
    | 'deadLetterRetentionDays'
  >;
  database: Database;
  channels: ChannelCatalog;
  admin: Pick<KafkaAdmin, 'describeTopics'>;
  /** Makes the dead letter topics' publisher, with a client of its own. */
  openPublisher: () => LanePublisher;
  logger: Logger;
  /** Default: the machine's. */
  clock?: Clock;
}

/** What protects a consumer process, and others from what it reads. */
export interface Protection {
  careful: CarefulReading;
  marks: DrainMarks;
  gate: FloodGate;
  kept: KeptLimit;
  watchdog: Watchdog;
  deadLetters: DeadLetterPublisher;
  companions: readonly Companion[];
  /** The last step of a clean end: nothing is in hand any more. */
  leave(): Promise<void>;
}

export function createProtection(options: ProtectionOptions): Protection {
  const { config, database, channels, admin, openPublisher, logger, clock = systemClock } = options;
  const { databaseConnectTimeout: connectTimeoutMs, instanceId } = config;
  const presence = new Presence({ url: () => config.databaseUrl, connectTimeoutMs, name: instanceId }, logger);
  const suspects = new OneAtATime();
  const reader = { presence, instance: instanceId, suspects };
  const careful = new CarefulReading(database, reader, config.consumerBatchSize, clock, logger);
  const marks = new DrainMarks(database, presence, suspects, clock);
  const limits = { perMinute: config.deadLetterFloodPerMinute, open: config.deadLetterFloodOpen };
  const kept = new KeptLimit(database, channels, config.suspendedHeldLimit, logger);
  const unread = new UnreadRecords(database, channels, admin);
  const gate = new FloodGate(database, channels, limits, clock, logger, { kept, unread });
  const watchdog = new Watchdog(config.watchdogMs, logger);
  const deadLetters = new DeadLetterPublisher({
    unpublished: new Unpublished(database),
    open: openPublisher,
    group: config.kafkaConsumerGroup,
    clock,
    logger,
  });
  const times = {
    inboxMs: config.inboxRetentionHours * 3_600_000,
    resolvedMs: config.deadLetterRetentionDays * 86_400_000,
  };
  const retention = new Retention(database, channels, admin, times, clock, logger);
  return {
    ...{ careful, marks, gate, kept, watchdog, deadLetters },
    companions: [gate, deadLetters, retention, watching(watchdog)],
    async leave() {
      await Promise.all([marks.leave(), careful.leave()]).catch((error: unknown) => {
        logger.warn({ reason: messageOf(error) }, 'the marks of this process stay: whoever comes next reads carefully');
      });
      await presence.close();
      await watchdog.stop();
    },
  };
}

/** Goes on until the process leaves: the end of what is in hand may block, too. */
function watching(watchdog: Watchdog): Companion {
  return {
    start: () => watchdog.start(),
    stop: () => Promise.resolve(),
    get trouble() {
      return watchdog.trouble;
    },
  };
}
