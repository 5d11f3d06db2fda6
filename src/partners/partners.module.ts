import { type DynamicModule, type InjectionToken, Module, type Provider, type Type } from '@nestjs/common';
import type { GaugeBoard } from '../platform/telemetry';
import { accountProviders } from './accounts/account.providers';
import { AccountsController } from './accounts/accounts.controller';
import { RotationController } from './accounts/rotation.controller';
import { PartnersController } from './directory/partners.controller';
import { OnboardingController } from './onboarding/onboarding.controller';
import { PartnerStateController } from './state/partner-state.controller';
import { stateProviders } from './state/state.providers';

/** What the process has already: tokens of global modules. */
export interface PartnersParts {
  gauges: InjectionToken<GaugeBoard>;
}

/** Partners for people: what they are, how they reach the broker, whether they are served. Needs from global modules: Database, Partners, CLOCK, CONFIG, LOGGER. */
@Module({})
export class PartnersModule {
  static forRoot({ gauges }: PartnersParts): DynamicModule {
    const controllers: Type[] = [
      ...[PartnersController, OnboardingController, PartnerStateController],
      ...[RotationController, AccountsController],
    ];
    const providers: Provider[] = [...stateProviders(gauges), ...accountProviders(gauges)];
    return { module: PartnersModule, controllers, providers };
  }
}
