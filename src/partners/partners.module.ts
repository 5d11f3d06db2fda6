import { type DynamicModule, type InjectionToken, Module, type Provider, type Type } from '@nestjs/common';
import type { GaugeBoard } from '../platform/telemetry';

/** What the process has already: tokens of global modules. */
export interface PartnersParts {
  gauges: InjectionToken<GaugeBoard>;
}

/** Partners for people: what they are, how they reach the broker, whether they are served. Needs from global modules: Database, Partners, CLOCK, CONFIG, LOGGER. */
@Module({})
export class PartnersModule {
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- the first provider that counts takes it
  static forRoot(_parts: PartnersParts): DynamicModule {
    const controllers: Type[] = [];
    const providers: Provider[] = [];
    return { module: PartnersModule, controllers, providers };
  }
}
