import type { Partners } from '../../partners';
import type { Clock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import type { Logger } from '../../platform/telemetry';
import type { Notifications } from '../notifications';
import { DeadLetterWatch } from './dead-letter-watch';
import { PartnerWatchRepository } from './partner-watch.repository';
import { SilenceWatch } from './silence-watch';
import { Watchers } from './watchers';

/** What watchers look at and whom they tell. */
export interface WatchedRooms {
  database: Database;
  partners: Partners;
  notifications: Notifications;
  clock: Clock;
  logger: Logger;
}

export function createWatchers(
  { partnerSilentHours }: Pick<Config, 'partnerSilentHours'>,
  { database, partners, notifications, clock, logger }: WatchedRooms,
): Watchers {
  const repository = new PartnerWatchRepository(database);
  const watchers = {
    'partner-silent': new SilenceWatch(database, repository, partners, notifications, partnerSilentHours),
    'dead-letters-open': new DeadLetterWatch(database, repository, partners, notifications),
  };
  return new Watchers(database, watchers, clock, logger);
}
