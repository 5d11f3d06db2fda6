import type { Provider } from '@nestjs/common';
import { CLOCK, type Clock } from '../platform/clock';
import { CONFIG, type Config } from '../platform/config';
import { Database } from '../platform/database';
import { LOGGER, type Logger } from '../platform/telemetry';
import { NotificationDesk } from './desk/notification-desk';
import { Notifications } from './notifications';
import { NotificationList } from './reading/notification-list';
import { Receivers } from './receivers/receivers';
import { Retention } from './retention';

/** What notifications are made, read and changed with. */
export const CORE_PROVIDERS: Provider[] = [
  { provide: Notifications, inject: [Database], useFactory: (database: Database) => new Notifications(database) },
  { provide: Receivers, inject: [Database], useFactory: (database: Database) => new Receivers(database) },
  { provide: NotificationList, inject: [Database], useFactory: (database: Database) => new NotificationList(database) },
  { provide: NotificationDesk, useFactory: () => new NotificationDesk() },
  {
    provide: Retention,
    inject: [Database, CONFIG, CLOCK, LOGGER],
    useFactory: (database: Database, config: Config, clock: Clock, log: Logger) =>
      new Retention(database, config, clock, log),
  },
];
