import type { Provider } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../platform/clock';
import { CONFIG, type Config } from '../../../platform/config';
import { Database } from '../../../platform/database';
import { LOGGER, type Logger } from '../../../platform/telemetry';
import { Notifications } from '../../notifications';
import { SecretUpkeep } from './secret-upkeep';
import { WebhookDisabling } from './webhook-disabling';
import { WebhookProvider } from './webhook-provider';
import { WebhookSecrets } from './webhook-secrets';

/** What webhooks are sent and kept with. */
export const WEBHOOK_PROVIDERS: Provider[] = [
  {
    provide: WebhookSecrets,
    inject: [Database, CONFIG],
    useFactory: (database: Database, config: Config) => new WebhookSecrets(database, config),
  },
  {
    provide: WebhookDisabling,
    inject: [Notifications, CONFIG],
    useFactory: (notifications: Notifications, config: Config) => new WebhookDisabling(notifications, config),
  },
  {
    provide: WebhookProvider,
    inject: [Database, WebhookSecrets, WebhookDisabling, CONFIG, CLOCK],
    useFactory: (
      database: Database,
      secrets: WebhookSecrets,
      disabling: WebhookDisabling,
      config: Config,
      clock: Clock,
    ) => new WebhookProvider(database, secrets, disabling, config, clock),
  },
  {
    provide: SecretUpkeep,
    inject: [WebhookSecrets, CONFIG, CLOCK, LOGGER],
    useFactory: (secrets: WebhookSecrets, config: Config, clock: Clock, log: Logger) =>
      new SecretUpkeep(secrets, config, clock, log),
  },
];
