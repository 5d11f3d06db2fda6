import { type DynamicModule, Module } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config';
import { Database } from '../../platform/database';
import { LOGGER, type Logger } from '../../platform/telemetry';
import { ChannelCatalog } from '../channels';
import type { Codec } from '../registry';
import type { SourceFactory } from './consumer';
import { createTransport } from './create-transport';
import { ParleyTransport } from './parley-transport';

/** Tokens of what the consumer takes from other rooms. */
export interface ConsumerModuleOptions {
  /** Modules that provide {@link ChannelCatalog}, the codec and the source factory, where they aren't global. */
  imports?: DynamicModule['imports'];
  codec: symbol | (abstract new (...args: never[]) => Codec);
  makeSource: symbol;
}

/** Provides {@link ParleyTransport}; `main.ts` connects it when the process has the consumer's role. */
@Module({})
export class ConsumerModule {
  static forRoot({ imports = [], codec, makeSource }: ConsumerModuleOptions): DynamicModule {
    return {
      module: ConsumerModule,
      imports,
      providers: [
        {
          provide: ParleyTransport,
          inject: [CONFIG, Database, ChannelCatalog, codec, makeSource, LOGGER],
          useFactory: (
            config: Config,
            database: Database,
            channels: ChannelCatalog,
            format: Codec,
            source: SourceFactory,
            logger: Logger,
          ) => createTransport({ config, database, channels, codec: format, makeSource: source, logger }),
        },
      ],
      exports: [ParleyTransport],
    };
  }
}
