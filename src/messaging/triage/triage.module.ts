import { type DynamicModule, type InjectionToken, Module } from '@nestjs/common';
import type { Codec } from '../registry';
import { DOCUMENT_CODEC } from './tokens';

/** What the process has already: tokens of global modules. */
export interface TriageParts {
  codec: InjectionToken<Codec>;
}

/** Failures for people. Needs from global modules: Database, ChannelCatalog, CLOCK, CONFIG, LOGGER. */
@Module({})
export class TriageModule {
  static forRoot({ codec }: TriageParts): DynamicModule {
    return {
      module: TriageModule,
      controllers: [],
      providers: [{ provide: DOCUMENT_CODEC, useExisting: codec }],
    };
  }
}
