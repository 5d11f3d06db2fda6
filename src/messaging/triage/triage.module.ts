import { type DynamicModule, type InjectionToken, Module, type Provider } from '@nestjs/common';
import { CLOCK, type Clock } from '../../platform/clock';
import { CONFIG, type Config } from '../../platform/config';
import { Database } from '../../platform/database';
import { type GaugeBoard, LOGGER, type Logger } from '../../platform/telemetry';
import { ChannelCatalog } from '../channels';
import { type ParkedDesk, StaffDesk } from '../consumer';
import type { Codec } from '../registry';
import { ChannelsController } from './channels.controller';
import { DeadLetterList } from './dead-letter-list';
import { DeadLettersController } from './dead-letters.controller';
import { DocumentReader } from './document-reader';
import { FailureCounts } from './failure-counts';
import { FailureGroups } from './failure-groups';
import { FailureGroupsController } from './failure-groups.controller';
import { LetterView } from './letter-view';
import { Mending } from './mending';
import { MendingController } from './mending.controller';
import { ParkedController } from './parked.controller';
import { ParkedList } from './parked-list';
import { ReplayAdviceModule } from './replays/replay-advice';
import { REPLAY_PROVIDERS } from './replays/replay.providers';
import { ReplaysController } from './replays/replays.controller';
import { Retrying } from './retrying';
import { PARKED_DESK } from './tokens';
import { Unmasking } from './unmasking';
import { UnmaskingController } from './unmasking.controller';

/** What the process has already: tokens of global modules. */
export interface TriageParts {
  codec: InjectionToken<Codec>;
  gauges: InjectionToken<GaugeBoard>;
}

const READING: Provider[] = [
  { provide: DeadLetterList, inject: [Database], useFactory: (database: Database) => new DeadLetterList(database) },
  { provide: FailureGroups, inject: [Database], useFactory: (database: Database) => new FailureGroups(database) },
  { provide: ParkedList, inject: [Database], useFactory: (database: Database) => new ParkedList(database) },
  {
    provide: LetterView,
    inject: [Database, DeadLetterList, DocumentReader],
    useFactory: (database: Database, list: DeadLetterList, reader: DocumentReader) =>
      new LetterView(database, list, reader),
  },
];

const MENDING: Provider[] = [
  {
    provide: Unmasking,
    inject: [Database, LetterView, CLOCK],
    useFactory: (database: Database, views: LetterView, clock: Clock) => new Unmasking(database, views, clock),
  },
  {
    provide: Mending,
    inject: [Database, PARKED_DESK, DeadLetterList, DocumentReader, CONFIG, CLOCK],
    useFactory: (
      database: Database,
      desk: ParkedDesk,
      list: DeadLetterList,
      reader: DocumentReader,
      config: Config,
      clock: Clock,
    ) => new Mending(database, { desk, list, reader }, config.deadLetterApproval, clock),
  },
  {
    provide: Retrying,
    inject: [Database, ParkedList, PARKED_DESK, CLOCK],
    useFactory: (database: Database, list: ParkedList, desk: ParkedDesk, clock: Clock) =>
      new Retrying(database, list, desk, clock),
  },
];

/** Failures for people. Needs from global modules: Database, ChannelCatalog, CLOCK, CONFIG, LOGGER. */
@Module({})
export class TriageModule {
  static forRoot({ codec, gauges }: TriageParts): DynamicModule {
    return {
      module: TriageModule,
      imports: [ReplayAdviceModule],
      controllers: [
        DeadLettersController,
        MendingController,
        UnmaskingController,
        FailureGroupsController,
        ParkedController,
        ChannelsController,
        ReplaysController,
      ],
      providers: [
        { provide: PARKED_DESK, useFactory: () => new StaffDesk() },
        {
          provide: DocumentReader,
          inject: [codec, ChannelCatalog],
          useFactory: (decoder: Codec, channels: ChannelCatalog) => new DocumentReader(decoder, channels),
        },
        {
          provide: FailureCounts,
          inject: [Database, gauges, CONFIG, LOGGER],
          useFactory: (database: Database, board: GaugeBoard, config: Config, log: Logger) =>
            new FailureCounts(database, board, config, log),
        },
        ...READING,
        ...MENDING,
        ...REPLAY_PROVIDERS,
      ],
    };
  }
}
