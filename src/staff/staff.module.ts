import { Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { CLOCK, type Clock } from '../platform/clock';
import { Database } from '../platform/database';
import { LOGGER, type Logger } from '../platform/telemetry';
import { ApiKeys } from './api-keys';
import { ApiKeysController } from './api-keys.controller';
import { AuditController } from './audit.controller';
import { AuditLog } from './audit-log';
import { AUTHENTICATOR } from './authenticator';
import { KeyRing } from './key-ring';
import { LoginLog } from './login-log';
import { OperationsCheck } from './operations-check';
import { StaffGuard } from './staff.guard';

/** Keys, audit, and the guard of every HTTP operation. Needs from global modules: Database, CLOCK, LOGGER. */
@Module({
  imports: [DiscoveryModule],
  controllers: [ApiKeysController, AuditController],
  providers: [
    OperationsCheck,
    {
      provide: KeyRing,
      inject: [Database, CLOCK, LOGGER],
      useFactory: (database: Database, clock: Clock, log: Logger) => new KeyRing(database, clock, log),
    },
    { provide: AUTHENTICATOR, useExisting: KeyRing },
    {
      provide: ApiKeys,
      inject: [Database, CLOCK, KeyRing],
      useFactory: (database: Database, clock: Clock, ring: KeyRing) =>
        new ApiKeys(database, clock, () => ring.changed()),
    },
    { provide: AuditLog, inject: [Database], useFactory: (database: Database) => new AuditLog(database) },
    {
      provide: LoginLog,
      inject: [LOGGER, CLOCK],
      useFactory: (log: Logger, clock: Clock) => new LoginLog(log, clock),
    },
    { provide: APP_GUARD, useClass: StaffGuard },
  ],
})
export class StaffModule {}
