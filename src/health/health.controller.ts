import { Controller, Get, HttpException, Inject, Query, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { HealthCheckService, HealthIndicatorService, type HealthIndicatorFunction } from '@nestjs/terminus';
import { Lifecycle } from '../platform/lifecycle';
import { Public } from '../staff';
import { Metrics } from './metrics';
import { HEALTH_SIGNALS, type HealthReading, type HealthSignal } from './health-signal';

/** The two members of a Fastify reply that a probe needs. */
interface Reply {
  status(code: number): unknown;
  header(name: string, value: string): unknown;
}

/** Probes of Kubernetes and Prometheus' scrape, on the management port. All answers come from memory. */
@ApiExcludeController()
@Public()
@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly lifecycle: Lifecycle,
    @Inject(HEALTH_SIGNALS) private readonly signals: readonly HealthSignal[],
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /** Does this process still turn? Never a dependency: restarting us heals no database. */
  @Get('livez')
  livez(@Res({ passthrough: true }) reply: Reply, @Query('verbose') verbose?: string): Promise<unknown> {
    return this.answer(reply, verbose, []);
  }

  /** May requests be sent here? */
  @Get('readyz')
  readyz(@Res({ passthrough: true }) reply: Reply, @Query('verbose') verbose?: string): Promise<unknown> {
    const phase: HealthSignal = { name: 'lifecycle', read: () => this.phaseReading() };
    return this.answer(reply, verbose, [phase, ...this.signals]);
  }

  /** Has the start been completed once? */
  @Get('startupz')
  startupz(@Res({ passthrough: true }) reply: Reply, @Query('verbose') verbose?: string): Promise<unknown> {
    const started: HealthSignal = {
      name: 'startup',
      read: () =>
        this.lifecycle.phase === 'starting' ? { status: 'down', message: 'still starting' } : { status: 'up' },
    };
    return this.answer(reply, verbose, [started]);
  }

  @Get('metrics')
  async scrape(@Res({ passthrough: true }) reply: Reply): Promise<string> {
    reply.header('content-type', this.metrics.registry.contentType);
    return this.metrics.registry.metrics();
  }

  private phaseReading(): HealthReading {
    return this.lifecycle.phase === 'serving' ? { status: 'up' } : { status: 'down', message: this.lifecycle.phase };
  }

  private async answer(reply: Reply, verbose: string | undefined, signals: readonly HealthSignal[]): Promise<unknown> {
    const checks = signals.map((signal): HealthIndicatorFunction => () => {
      const { status, message } = signal.read();
      const session = this.indicators.check(signal.name);
      if (status === 'up') return session.up();
      return status === 'degraded' ? session.degraded({ message }) : session.down({ message });
    });
    reply.header('cache-control', 'no-store');
    const result = await this.health.check(checks).catch((error: unknown) => {
      if (!(error instanceof HttpException)) throw error;
      reply.status(error.getStatus());
      return error.getResponse() as { status: string; details: unknown };
    });
    return verbose === undefined ? { status: result.status } : { status: result.status, checks: result.details };
  }
}
