import type { ChannelCatalog } from '../../channels';
import type { ErrorReports } from '../error-reports';
import type { Dispatch } from '../handing-over';
import type { Documents } from '../inspection';
import type { ReplayObserver } from '../parked-desk';
import type { AttemptMarks } from './attempt-marks';
import { Drain } from './drain';
import { DrainReader } from './drain-reader';
import { DrainSettler, type Surroundings } from './drain-settler';
import { DrainTransaction } from './drain-transaction';
import { DueMessages } from './due-messages';

export interface DrainOptions extends Surroundings {
  channels: ChannelCatalog;
  documents: Pick<Documents, 'contracts' | 'codec' | 'outbox'>;
  reports: ErrorReports;
  dispatch: Dispatch;
  /** Hears of what a replay released. */
  observer?: ReplayObserver | undefined;
  marks?: AttemptMarks | undefined;
}

export function createDrain(options: DrainOptions): Drain {
  const { database, channels, documents, reports, dispatch, observer, marks, clock, logger } = options;
  const due = new DueMessages(database);
  const steps = new DrainTransaction(reports, dispatch, observer);
  const settler = new DrainSettler(steps, options, (heads) => due.postpone(heads, clock.now()));
  const reader = new DrainReader(database, due, channels, documents, marks);
  return new Drain({ database, due, reader, settler }, clock, logger);
}
