import type { Provider } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../platform/clock';
import { CONFIG, type Config } from '../../../platform/config';
import { Database } from '../../../platform/database';
import { LOGGER, type Logger } from '../../../platform/telemetry';
import type { ParkedDesk } from '../../consumer';
import { DocumentReader } from '../document-reader';
import { PARKED_DESK } from '../tokens';
import { Documents } from './documents';
import { Releaser } from './releaser';
import { ReleaseStep } from './release-step';
import { ReplayAdvisors } from './replay-advice';
import { ReplayList } from './replay-list';
import { ReplayPlanner } from './replay-planner';
import { ReplayRunner } from './replay-runner';
import { ReplaySet } from './replay-set';
import { ReplayStore } from './replay-store';
import { Replays } from './replays';

/** Replays within the module of triage, which provides a DocumentReader and the desk and imports the module of advice. */
export const REPLAY_PROVIDERS: Provider[] = [
  {
    provide: Replays,
    inject: [Database, ReplayAdvisors, DocumentReader, PARKED_DESK, CLOCK],
    useFactory: (
      database: Database,
      advisors: ReplayAdvisors,
      reader: DocumentReader,
      desk: ParkedDesk,
      clock: Clock,
    ) => {
      const store = new ReplayStore();
      const set = new ReplaySet(database);
      const planner = new ReplayPlanner(database, { store, set }, advisors, new Documents(database, reader), clock);
      return new Replays(database, { store, set, planner, releaser: new Releaser(desk) }, clock);
    },
  },
  { provide: ReplayList, inject: [Database], useFactory: (database: Database) => new ReplayList(database) },
  {
    provide: ReplayRunner,
    inject: [Database, PARKED_DESK, CONFIG, CLOCK, LOGGER],
    useFactory: (database: Database, desk: ParkedDesk, config: Config, clock: Clock, log: Logger) =>
      new ReplayRunner(database, new ReleaseStep(database, new Releaser(desk)), config, clock, log),
  },
];
