import { type AnyContract, CONTRACTS, typeOf } from '../../contracts';
import { type Clock, systemClock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import type { Logger } from '../../platform/telemetry';
import { type ChannelCatalog, SchemaUse } from '../channels';
import { Outbox } from '../outbox';
import type { Codec } from '../registry';
import { BatchProcessor } from './batch-processor';
import { BatchSettler } from './batch-settler';
import { Consumer, type SourceFactory } from './consumer';
import { ConsumerCounters } from './counters';
import { createDrain } from './drain/create-drain';
import type { Drain } from './drain/drain';
import { ErrorReports } from './error-reports';
import type { Dispatch } from './handing-over';
import { Inbox } from './inbox';
import type { Documents } from './inspection';
import { Parked } from './parked';
import type { ReplayObserver } from './parked-desk';
import { ParleyTransport } from './parley-transport';
import { createProtection, type ProtectionOptions } from './protection/create-protection';
import type { Guards } from './protection/guards';
import { RecordTransaction } from './record-transaction';

export interface ProcessorOptions {
  config: Pick<Config, 'consumerBatchSize' | 'consumerLingerMs' | 'databasePoolSize'>;
  database: Database;
  channels: ChannelCatalog;
  codec: Codec;
  /** Where answers and error reports go; its relay is woken behind a commit. Default: one over the same channels and codec, without a relay. */
  outbox?: Outbox;
  logger: Logger;
  /** Default: the catalogue. */
  contracts?: readonly AnyContract[];
  /** Default: the machine's. */
  clock?: Clock;
  /** Hears what became of messages that a replay released. */
  observer?: ReplayObserver | undefined;
  /** What stands between a fetched batch and its handlers; without them nothing is marked, counted or paused. */
  guards?: Guards | undefined;
}

/** What processor and drain share. */
function partsOf(options: ProcessorOptions, dispatch: Dispatch, counters: ConsumerCounters) {
  const { database, channels, codec, logger, contracts = CONTRACTS, clock = systemClock } = options;
  const outbox = options.outbox ?? new Outbox(channels, codec);
  const documents: Documents = {
    contracts: new Map(contracts.map((contract) => [typeOf(contract), contract])),
    codec,
    schemas: new SchemaUse(database, clock, logger),
    outbox,
  };
  const reports = new ErrorReports(outbox, channels, logger);
  return { database, channels, documents, outbox, reports, dispatch, counters, clock, logger };
}

function processorOf(
  parts: ReturnType<typeof partsOf>,
  config: ProcessorOptions['config'],
  guards: Guards | undefined,
): BatchProcessor {
  const { database, channels, documents, outbox, reports, dispatch, counters, clock, logger } = parts;
  const steps = new RecordTransaction(new Inbox(), new Parked(), reports, dispatch);
  return new BatchProcessor(
    channels,
    documents,
    new BatchSettler(database, steps, outbox, clock, counters, logger),
    {
      size: config.consumerBatchSize,
      lingerMs: config.consumerLingerMs,
      // The other half of the pool is for everything else in the process.
      transactions: Math.max(1, config.databasePoolSize >> 1),
    },
    logger,
    guards,
  );
}

/** The batch processor alone, for what brings its own records (benchmarks, tests); `dispatch` calls the handlers. */
export function createProcessor(
  options: ProcessorOptions,
  dispatch: Dispatch,
  counters = new ConsumerCounters(),
): BatchProcessor {
  return processorOf(partsOf(options, dispatch, counters), options.config, options.guards);
}

/** The drain alone, as {@link createProcessor}. */
export function createParkedDrain(options: ProcessorOptions, dispatch: Dispatch): Drain {
  const { observer, guards } = options;
  return createDrain({ ...partsOf(options, dispatch, new ConsumerCounters()), observer, marks: guards?.marks });
}

/** What a whole consumer process needs more than its processor. */
export interface TransportOptions extends Omit<ProcessorOptions, 'guards'> {
  makeSource: SourceFactory;
  /** Without it (where a test has only a part of a process) nothing protects the process, and nothing is published or forgotten. */
  protect?: Pick<ProtectionOptions, 'config' | 'admin' | 'openPublisher'> | undefined;
}

/**
 * Nest's strategy: `app.connectMicroservice({ strategy: transport }, { inheritAppConfig: true })`, then
 * `startAllMicroservices()`.
 */
export function createTransport(options: TransportOptions): ParleyTransport {
  const { database, channels, logger, protect, contracts = CONTRACTS, clock = systemClock } = options;
  return new ParleyTransport((dispatch) => {
    const protection = protect && createProtection({ ...protect, database, channels, logger, clock });
    const counters = new ConsumerCounters({
      dead: (topic) => protection?.gate.died(topic),
      held: (topic) => protection?.kept.note(topic),
    });
    const noted: Dispatch = (contract, batch) => {
      protection?.watchdog.note(batch.messages);
      return dispatch(contract, batch);
    };
    const parts = partsOf(options, noted, counters);
    const drain = createDrain({ ...parts, observer: options.observer, marks: protection?.marks });
    const processor = processorOf(parts, options.config, protection);
    const reading = { processor, counters, protection, companions: [drain, ...(protection?.companions ?? [])] };
    return { consumer: new Consumer(reading, options.makeSource, channels, clock, logger), drain };
  }, contracts);
}
