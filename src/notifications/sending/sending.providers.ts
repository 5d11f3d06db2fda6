import type { InjectionToken, Provider } from '@nestjs/common';
import { CLOCK, type Clock } from '../../platform/clock';
import { CONFIG, type Config } from '../../platform/config';
import { Database } from '../../platform/database';
import { type GaugeBoard, LOGGER, type Logger } from '../../platform/telemetry';
import { Notifications } from '../notifications';
import { createNotifier } from './create-notifier';
import { NotificationFigures } from './figures';
import type { Notifier } from './notifier';
import { NOTIFICATION_OBSERVER, type NotificationObserver } from './observer';

/** Null in a process without the role notifier. */
export const NOTIFIER = Symbol('Notifier');
/** Of notifications that wait; null in a process without the role notifier. */
export const NOTIFICATION_FIGURES = Symbol('NotificationFigures');

/** What sends. */
export const sendingProviders = (gauges: InjectionToken<GaugeBoard>): Provider[] => [
  {
    provide: NOTIFIER,
    inject: [CONFIG, Database, Notifications, CLOCK, LOGGER, NOTIFICATION_OBSERVER],
    useFactory: (
      ...[config, database, notifications, clock, log, observer]: [
        Config,
        Database,
        Notifications,
        Clock,
        Logger,
        NotificationObserver,
      ]
    ): Notifier | null =>
      config.roles.includes('notifier')
        ? createNotifier({ config, database, notifications, clock, log, observer })
        : null,
  },
  {
    provide: NOTIFICATION_FIGURES,
    inject: [CONFIG, Database, LOGGER, gauges],
    useFactory: (config: Config, database: Database, log: Logger, board: GaugeBoard): NotificationFigures | null =>
      config.roles.includes('notifier') ? new NotificationFigures(database, log, board) : null,
  },
];
