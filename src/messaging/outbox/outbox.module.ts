import { type DynamicModule, type InjectionToken, Module } from '@nestjs/common';
import { CLOCK, type Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import type { GaugeBoard } from '../../platform/telemetry';
import { ChannelCatalog } from '../channels';
import { OutboxController } from './outbox.controller';
import { OutboundDesk } from './parking/outbound-desk';
import { ParkedWatch } from './parking/parked-watch';
import type { Relay } from './relay';

/** What the process has already: tokens of global modules. */
export interface OutboxParts {
  relay: InjectionToken<Relay | null>;
  gauges: InjectionToken<GaugeBoard>;
}

/** The outbox for people, and its counts. Needs from global modules: Database, ChannelCatalog, CLOCK. */
@Module({})
export class OutboxModule {
  static forRoot({ relay, gauges }: OutboxParts): DynamicModule {
    return {
      module: OutboxModule,
      controllers: [OutboxController],
      providers: [
        {
          provide: OutboundDesk,
          inject: [Database, ChannelCatalog, CLOCK],
          useFactory: (database: Database, channels: ChannelCatalog, clock: Clock) =>
            new OutboundDesk(database, channels, clock),
        },
        {
          provide: ParkedWatch,
          inject: [Database, relay, gauges, CLOCK],
          useFactory: (database: Database, ours: Relay | null, board: GaugeBoard, clock: Clock) =>
            new ParkedWatch(database, ours, board, clock),
        },
      ],
    };
  }
}
