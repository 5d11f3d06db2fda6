import { Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { CLOCK, type Clock } from '../platform/clock';
import { CONFIG, type Config } from '../platform/config';
import { Database } from '../platform/database';
import { LOGGER, type Logger } from '../platform/telemetry';
import { ApiKeys } from './api-keys';
import { ApiKeysController } from './api-keys.controller';
import { AuditController } from './audit.controller';
import { AuditLog } from './audit-log';
import { AUTHENTICATOR, type Authenticator } from './authenticator';
import { BearerAuthenticator } from './bearer';
import { Callers } from './callers';
import { CallLimits } from './call-limits';
import { EarlyGuard } from './early-guard';
import { KeyRing } from './key-ring';
import { LoginLog } from './login-log';
import { createOidc } from './oidc/create-oidc';
import { OperationsCheck } from './operations-check';
import { StaffGuard } from './staff.guard';

/** Keys, tokens, audit, and the guard of every HTTP operation. Needs from global modules: CONFIG, Database, CLOCK, LOGGER. */
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
    {
      provide: AUTHENTICATOR,
      inject: [KeyRing, CONFIG, CLOCK, LOGGER],
      useFactory: (ring: KeyRing, config: Config, clock: Clock, log: Logger): Authenticator => {
        const oidc = createOidc(config, clock, log);
        return oidc ? new BearerAuthenticator(ring, oidc) : ring;
      },
    },
    {
      provide: CallLimits,
      inject: [CONFIG, LOGGER, CLOCK],
      useFactory: (config: Config, log: Logger, clock: Clock) => new CallLimits(config, new LoginLog(log, clock)),
    },
    Callers,
    EarlyGuard,
    {
      provide: ApiKeys,
      inject: [Database, CLOCK, KeyRing],
      useFactory: (database: Database, clock: Clock, ring: KeyRing) =>
        new ApiKeys(database, clock, () => ring.changed()),
    },
    { provide: AuditLog, inject: [Database], useFactory: (database: Database) => new AuditLog(database) },
    { provide: APP_GUARD, useClass: StaffGuard },
  ],
})
export class StaffModule {}
