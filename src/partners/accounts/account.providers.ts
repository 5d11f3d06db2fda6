import type { InjectionToken, Provider } from '@nestjs/common';
import { CLOCK, type Clock } from '../../platform/clock';
import { CONFIG, type Config } from '../../platform/config';
import { Database } from '../../platform/database';
import { type GaugeBoard, LOGGER, type Logger } from '../../platform/telemetry';
import { PartnerDirectory } from '../directory/partner-directory';
import { AccountKeeper } from './account-keeper';

export const accountProviders = (gauges: InjectionToken<GaugeBoard>): Provider[] => [
  { provide: PartnerDirectory, inject: [Database], useFactory: (database: Database) => new PartnerDirectory(database) },
  {
    provide: AccountKeeper,
    inject: [Database, CONFIG, CLOCK, gauges, LOGGER],
    useFactory: (database: Database, config: Config, clock: Clock, board: GaugeBoard, log: Logger) =>
      new AccountKeeper(database, config, clock, board, log),
  },
];
