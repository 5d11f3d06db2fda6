import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Clock } from '../../../platform/clock';
import type { Config } from '../../../platform/config';
import { messageOf } from '../../../platform/errors';
import { sleep } from '../../../platform/polling';
import type { Logger } from '../../../platform/telemetry';
import type { WebhookSecrets } from './webhook-secrets';

const EVERY_MS = 60_000;

/** Has secrets that sign no longer deleted, and all sealed under the first key. In processes with the role notifier; several may do it at once. */
export class SecretUpkeep implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly secrets: Pick<WebhookSecrets, 'sweep'>,
    private readonly config: Pick<Config, 'roles'>,
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly everyMs = EVERY_MS,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('notifier')) this.running = this.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    for (;;) {
      await sleep(this.everyMs * (0.5 + Math.random()), signal);
      if (signal.aborted) return;
      await this.secrets
        .sweep(this.clock.now())
        .catch((error: unknown) =>
          this.log.warn(
            { reason: messageOf(error) },
            'secrets of webhooks could not be swept; tried again in a minute',
          ),
        );
    }
  }
}
