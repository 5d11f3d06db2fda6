import { Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { CLOCK, type Clock } from '../platform/clock';
import { Database } from '../platform/database';
import { LOGGER, type Logger } from '../platform/telemetry';
import { AUTHENTICATOR } from './authenticator';
import { KeyRing } from './key-ring';
import { LoginLog } from './login-log';
import { OperationsCheck } from './operations-check';
import { StaffGuard } from './staff.guard';

/** The guard of every HTTP operation. Needs from global modules: Database, CLOCK, LOGGER. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    OperationsCheck,
    {
      provide: KeyRing,
      inject: [Database, CLOCK, LOGGER],
      useFactory: (database: Database, clock: Clock, log: Logger) => new KeyRing(database, clock, log),
    },
    { provide: AUTHENTICATOR, useExisting: KeyRing },
    {
      provide: LoginLog,
      inject: [LOGGER, CLOCK],
      useFactory: (log: Logger, clock: Clock) => new LoginLog(log, clock),
    },
    { provide: APP_GUARD, useClass: StaffGuard },
  ],
})
export class StaffModule {}
