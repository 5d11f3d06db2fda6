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
import { ErrorReports } from './error-reports';
import { Inbox } from './inbox';
import { Parked } from './parked';
import { ParleyTransport } from './parley-transport';
import { type Dispatch, RecordTransaction } from './record-transaction';

/** First and longest pause before a message that failed is tried again. */
const RETRY = { initialMs: 5_000, maxMs: 15 * 60_000 };

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
}

/** The batch processor alone, for what brings its own records (benchmarks, tests); `dispatch` calls the handlers. */
export function createProcessor(
  options: ProcessorOptions,
  dispatch: Dispatch,
  counters = new ConsumerCounters(),
): BatchProcessor {
  const { config, database, channels, codec, logger, contracts = CONTRACTS, clock = systemClock } = options;
  const outbox = options.outbox ?? new Outbox(channels, codec);
  const reports = new ErrorReports(outbox, channels, logger);
  const steps = new RecordTransaction(new Inbox(), new Parked(), reports, RETRY, dispatch);
  return new BatchProcessor(
    channels,
    {
      contracts: new Map(contracts.map((contract) => [typeOf(contract), contract])),
      codec,
      schemas: new SchemaUse(database, clock, logger),
      outbox,
    },
    new BatchSettler(database, steps, outbox, clock, counters, logger),
    {
      size: config.consumerBatchSize,
      lingerMs: config.consumerLingerMs,
      // The other half of the pool is for everything else in the process.
      transactions: Math.max(1, config.databasePoolSize >> 1),
    },
    logger,
  );
}

/**
 * Nest's strategy: `app.connectMicroservice({ strategy: transport }, { inheritAppConfig: true })`, then
 * `startAllMicroservices()`.
 */
export function createTransport(options: ProcessorOptions & { makeSource: SourceFactory }): ParleyTransport {
  const { channels, logger, contracts = CONTRACTS, clock = systemClock } = options;
  return new ParleyTransport((dispatch) => {
    const counters = new ConsumerCounters();
    const processor = createProcessor(options, dispatch, counters);
    return new Consumer(processor, counters, options.makeSource, channels, clock, logger);
  }, contracts);
}
