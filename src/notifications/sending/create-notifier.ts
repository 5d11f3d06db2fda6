import type { Clock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import type { Logger } from '../../platform/telemetry';
import { emailProvider } from '../channels/email';
import { isConfigured } from '../channels/installation';
import type { Provider } from '../channels/provider';
import { smsProvider } from '../channels/sms';
import { WebhookDisabling } from '../channels/webhook/webhook-disabling';
import { WebhookProvider } from '../channels/webhook/webhook-provider';
import { WebhookSecrets } from '../channels/webhook/webhook-secrets';
import type { Channel } from '../domain/notification';
import { KINDS } from '../kinds/catalogue';
import type { Notifications } from '../notifications';
import { Templates } from '../templates/templates';
import { Attempts } from './attempts';
import { Claims } from './claims';
import { Expiry } from './expiry';
import { Notifier } from './notifier';
import type { NotificationObserver } from './observer';
import { Sender } from './sender';
import { Upkeep } from './upkeep';

export interface NotifierOptions {
  config: Config;
  database: Database;
  notifications: Notifications;
  clock: Clock;
  log: Logger;
  observer: NotificationObserver;
}

const WEBHOOK_TIMEOUT_MS = 15_000;

/** Throws where templates or a channel's configuration can't be used: better not started than found out at the first letter. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { config, database, log, observer } = options;
  const [claims, attempts, templates] = [
    new Claims(database),
    new Attempts(database),
    Templates.load(config.notificationTemplatesDir),
  ];
  const providers = providersOf(options);
  const leaseMs = config.notificationLeaseMs;
  const sender = new Sender({
    ...{ claims, attempts, notifier: config.instanceId, leaseMs, log, observer },
    render: (notification, kind) => templates.compose(kind, notification.channel, notification),
  });
  return new Notifier({
    ...{ claims, sender, kinds: KINDS, concurrency: config.notificationConcurrency, leaseMs, log },
    upkeep: new Upkeep(claims, new Expiry(database, KINDS, observer), observer, log, leaseMs),
    providerFor: (name) => providers[name.split('/', 1)[0] as Channel],
    close: () => Promise.all(Object.values(providers).flatMap((provider) => (provider ? [provider.close()] : []))),
  });
}

/** One for each channel; undefined: not configured here. Whose limits count is said by a notification's provider, not by its channel. */
function providersOf(options: NotifierOptions): Record<Channel, Provider | undefined> {
  const { config, database, notifications, clock } = options;
  // As the others: a notifier begins nothing when less of the lease is left.
  const timeoutMs = Math.min(WEBHOOK_TIMEOUT_MS, Math.floor(config.notificationLeaseMs / 2));
  const [secrets, disabling] = [new WebhookSecrets(database, config), new WebhookDisabling(notifications, config)];
  return {
    email: emailProvider(config),
    sms: smsProvider(config),
    webhook: isConfigured(config, 'webhook')
      ? new WebhookProvider(database, secrets, disabling, config, clock, { timeoutMs })
      : undefined,
  };
}
