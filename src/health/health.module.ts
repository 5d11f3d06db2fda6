import { type DynamicModule, type FactoryProvider, Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { HealthController } from './health.controller';
import { HEALTH_SIGNALS, type HealthSignal } from './health-signal';

@Module({})
export class HealthModule {
  static forRoot(
    signals: Omit<FactoryProvider<readonly HealthSignal[]>, 'provide'>,
    imports: DynamicModule['imports'] = [],
  ): DynamicModule {
    return {
      module: HealthModule,
      imports: [TerminusModule.forRoot({ logger: false }), ...imports],
      controllers: [HealthController],
      providers: [{ provide: HEALTH_SIGNALS, ...signals }],
    };
  }
}
