import type { Provider } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../platform/clock';
import { CONFIG, type Config } from '../../../platform/config';
import { Database } from '../../../platform/database';
import { LOGGER, type Logger } from '../../../platform/telemetry';
import { SecretUpkeep } from './secret-upkeep';
import { WebhookSecrets } from './webhook-secrets';

/** What webhooks need beside who sends them and who changes them. */
export const WEBHOOK_PROVIDERS: Provider[] = [
  {
    provide: SecretUpkeep,
    inject: [Database, CONFIG, CLOCK, LOGGER],
    useFactory: (database: Database, config: Config, clock: Clock, log: Logger) =>
      new SecretUpkeep(new WebhookSecrets(database, config), config, clock, log),
  },
];
