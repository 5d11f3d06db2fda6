import type { Clock } from '../../../platform/clock';
import type { Config } from '../../../platform/config';
import { messageOf } from '../../../platform/errors';
import { BackgroundLoop, sweeping } from '../../../platform/polling';
import type { Logger } from '../../../platform/telemetry';
import type { WebhookSecrets } from './webhook-secrets';

const EVERY_MS = 60_000;

/** Has secrets that sign no longer deleted, and all sealed under the first key. In processes with the role notifier; several may do it at once. */
export class SecretUpkeep extends BackgroundLoop {
  constructor(
    private readonly secrets: Pick<WebhookSecrets, 'sweep'>,
    private readonly config: Pick<Config, 'roles'>,
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly everyMs = EVERY_MS,
  ) {
    super();
  }

  protected async run(signal: AbortSignal): Promise<void> {
    if (!this.config.roles.includes('notifier')) return;
    await sweeping(() => this.secrets.sweep(this.clock.now()), {
      everyMs: this.everyMs,
      signal,
      onFailure: (error) =>
        this.log.warn({ reason: messageOf(error) }, 'secrets of webhooks could not be swept; tried again each minute'),
    });
  }
}
