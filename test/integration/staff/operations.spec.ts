import 'reflect-metadata';
import { Controller, Get, Global, Module, Post } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { EventPattern } from '@nestjs/microservices';
import { CLOCK, systemClock } from '../../../src/platform/clock';
import { ConfigModule, loadConfig } from '../../../src/platform/config';
import { Database, DatabaseModule } from '../../../src/platform/database';
import { createHttpApp } from '../../../src/platform/http';
import { createLogger, TelemetryModule } from '../../../src/platform/telemetry';
import { Allow, Public, StaffModule } from '../../../src/staff';
import { CallLimits } from '../../../src/staff/call-limits';
import { Callers } from '../../../src/staff/callers';
import { LoginLog } from '../../../src/staff/login-log';
import { OperationsCheck } from '../../../src/staff/operations-check';
import { StaffGuard } from '../../../src/staff/staff.guard';
import { freshDatabase } from '../../support/database';
import { giveKey } from '../../support/staff';

const ran: string[] = [];

@Controller('v1/half')
class HalfGuarded {
  @Get('stated')
  @Allow('viewer', 'orders')
  stated(): string {
    return 'stated';
  }

  @Get('forgotten')
  forgotten(): string {
    ran.push('forgotten');
    return 'forgotten';
  }

  @EventPattern('a document')
  handle(batch: object): Promise<void> {
    ran.push(`handled ${typeof batch}`);
    return Promise.resolve();
  }
}

@Controller('v1/open')
class Unguarded {
  @Post()
  add(): void {
    ran.push('added');
  }
}

@Public()
@Controller('v1/public')
class Open {
  @Get()
  read(): string {
    return 'open';
  }

  @Get('closed')
  @Allow('viewer', 'orders')
  closed(): string {
    return 'closed';
  }
}

@Global()
@Module({ providers: [{ provide: CLOCK, useValue: systemClock }], exports: [CLOCK] })
class Clocks {}

async function appOf(...controllers: (new () => object)[]) {
  const config = loadConfig({ DATABASE_URL: await freshDatabase(), KAFKA_BROKERS: 'unused:1', LOG_LEVEL: 'silent' });
  const log = createLogger('silent', 'test');
  @Module({
    imports: [
      ConfigModule.forRoot(config),
      TelemetryModule.forRoot(log),
      DatabaseModule.forRoot({ entities: [], migrations: [] }),
      Clocks,
      StaffModule,
    ],
    controllers,
  })
  class Root {}
  const app = await createHttpApp(Root, config, log);
  await app.get(Database).dataSource.initialize();
  return app;
}

describe('an operation that does not say who may call it', () => {
  it('keeps the program from starting, and all of them are named', async () => {
    const app = await appOf(HalfGuarded, Unguarded, Open);
    try {
      await expect(app.init()).rejects.toThrow(
        'Operations do not say who may call them: HalfGuarded.forgotten, Unguarded.add.',
      );
    } finally {
      await app.close();
    }
  });

  it('is refused all the same, also to who may everything', async () => {
    const app = await appOf(HalfGuarded, Open);
    try {
      app.get(OperationsCheck).onModuleInit = () => undefined;
      await app.init();
      await app.getHttpAdapter().getInstance().ready();
      const { headers } = await giveKey(app.get(Database));
      const get = async (url: string, sent: Record<string, string> = headers) =>
        (await app.inject({ method: 'GET', url, headers: sent })).statusCode;
      expect(await get('/v1/half/forgotten', {})).toBe(401);
      expect(await get('/v1/half/forgotten')).toBe(403);
      expect(ran).toEqual([]);
      expect(await get('/v1/half/stated')).toBe(200);
      // What a method says goes before what its class says.
      expect(await get('/v1/public', {})).toBe(200);
      expect(await get('/v1/public/closed', {})).toBe(401);
    } finally {
      await app.close();
    }
  });

  it('leaves message handlers alone: there a partner acts, not staff', async () => {
    const context = new ExecutionContextHost([{}], HalfGuarded, HalfGuarded.prototype.handle);
    context.setType('rpc');
    const nobody = { authenticate: () => Promise.reject(new Error('asked')) };
    const log = createLogger('silent', 'test');
    const rates = { rateLimitPerSecond: 1, rateLimitPerAddress: 1, loginFailuresPerMinute: 1 };
    const callers = new Callers(nobody, new CallLimits(rates, new LoginLog(log, systemClock)));
    expect(await new StaffGuard(new Reflector(), callers).canActivate(context)).toBe(true);
  });
});
