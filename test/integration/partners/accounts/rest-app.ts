import { Global, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Metrics } from '../../../../src/health';
import { Partners, PartnersModule } from '../../../../src/partners';
import { CLOCK } from '../../../../src/platform/clock';
import { ConfigModule } from '../../../../src/platform/config';
import { Database, DatabaseModule } from '../../../../src/platform/database';
import { createHttpApp } from '../../../../src/platform/http';
import { type Logger, TelemetryModule } from '../../../../src/platform/telemetry';
import { StaffModule } from '../../../../src/staff';
import type { Bench } from './harness';

/** Partners by REST, over what the bench has; whoever starts it closes it. */
export async function startApp({ clock, config }: Bench, logger: Logger): Promise<NestFastifyApplication> {
  @Global()
  @Module({
    providers: [
      { provide: CLOCK, useValue: clock },
      { provide: Metrics, useFactory: () => new Metrics() },
      { provide: Partners, inject: [Database], useFactory: (one: Database) => new Partners(one) },
    ],
    exports: [CLOCK, Metrics, Partners],
  })
  class Wiring {}
  @Module({
    imports: [
      ConfigModule.forRoot(config),
      TelemetryModule.forRoot(logger),
      DatabaseModule.forRoot({ entities: [], migrations: [] }),
      Wiring,
      StaffModule,
      PartnersModule.forRoot({ gauges: Metrics }),
    ],
  })
  class Root {}
  const app = await createHttpApp(Root, config, logger);
  await app.get(Database).dataSource.initialize();
  await app.init();
  await app.listen(0, '127.0.0.1');
  return app;
}
