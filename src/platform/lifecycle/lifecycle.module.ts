import { Global, Module } from '@nestjs/common';
import { CONFIG, type Config } from '../config';
import { LOGGER, type Logger } from '../telemetry';
import { Lifecycle } from './lifecycle';

@Global()
@Module({
  providers: [
    {
      provide: Lifecycle,
      inject: [LOGGER, CONFIG],
      useFactory: (log: Logger, config: Config) => new Lifecycle(log, config.shutdownDrainMs, config.shutdownTimeoutMs),
    },
  ],
  exports: [Lifecycle],
})
export class LifecycleModule {}
