import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Logger } from './logger';

/** Token of the process's pino logger. */
export const LOGGER = Symbol('Logger');

@Global()
@Module({})
export class TelemetryModule {
  static forRoot(logger: Logger): DynamicModule {
    return { module: TelemetryModule, providers: [{ provide: LOGGER, useValue: logger }], exports: [LOGGER] };
  }
}
