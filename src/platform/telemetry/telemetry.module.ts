import { Global, Module } from '@nestjs/common';
import { CONFIG, type Config } from '../config';
import { createLogger } from './logger';

/** Token of the process's pino logger. */
export const LOGGER = Symbol('Logger');

@Global()
@Module({
  providers: [
    {
      provide: LOGGER,
      inject: [CONFIG],
      useFactory: (config: Config) => createLogger(config.logLevel, config.instanceId),
    },
  ],
  exports: [LOGGER],
})
export class TelemetryModule {}
