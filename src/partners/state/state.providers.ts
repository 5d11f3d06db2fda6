import type { InjectionToken, Provider } from '@nestjs/common';
import { CLOCK, type Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { type GaugeBoard, LOGGER, type Logger } from '../../platform/telemetry';
import { PartnerGauges } from './partner-gauges';
import { PartnerStates } from './partner-states';

export const stateProviders = (gauges: InjectionToken<GaugeBoard>): Provider[] => [
  {
    provide: PartnerStates,
    inject: [Database, CLOCK],
    useFactory: (database: Database, clock: Clock) => new PartnerStates(database, clock),
  },
  {
    provide: PartnerGauges,
    inject: [Database, gauges, LOGGER],
    useFactory: (database: Database, board: GaugeBoard, log: Logger) => new PartnerGauges(database, board, log),
  },
];
