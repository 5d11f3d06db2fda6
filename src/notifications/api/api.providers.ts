import type { Provider, Type } from '@nestjs/common';
import { CLOCK, type Clock } from '../../platform/clock';
import { CONFIG, type Config } from '../../platform/config';
import { Database } from '../../platform/database';
import { WebhookDisabling } from '../channels/webhook/webhook-disabling';
import { WebhookSecrets } from '../channels/webhook/webhook-secrets';
import { faultOfWebhookUrl } from '../channels/webhook/webhook-url';
import { NotificationDesk } from '../desk/notification-desk';
import { kindOf } from '../kinds/catalogue';
import { Notifications } from '../notifications';
import { NotificationList } from '../reading/notification-list';
import { Receivers } from '../receivers/receivers';
import { isConfigured } from '../channels/installation';
import { NotificationActionsController } from './notification-actions.controller';
import { NotificationActions } from './notification-actions';
import { NotificationsController } from './notifications.controller';
import { NotificationViews } from './notification-views';
import { ProviderDesk } from './provider-desk';
import { NotificationProvidersController } from './providers.controller';
import { ReceiverActionsController } from './receiver-actions.controller';
import { ReceiverDesk } from './receiver-desk';
import type { Surroundings } from './receiver-rules';
import { ReceiverTest } from './receiver-test';
import { ReceiverViews } from './receiver-views';
import { NotificationReceiversController } from './receivers.controller';
import { WebhookDesk } from './webhook-desk';

export const API_CONTROLLERS: Type[] = [
  NotificationsController,
  NotificationActionsController,
  NotificationReceiversController,
  ReceiverActionsController,
  NotificationProvidersController,
];

const surroundings = (config: Config): Surroundings => ({
  kindOf,
  isConfigured: (channel) => isConfigured(config, channel),
  urlFault: (url) => faultOfWebhookUrl(url, config.webhookAllowedNetworks),
});

/** What the controllers stand on, over the core of the room. */
export const API_PROVIDERS: Provider[] = [
  {
    provide: NotificationViews,
    inject: [Database, CONFIG, NotificationList],
    useFactory: (database: Database, config: Config, list: NotificationList) =>
      new NotificationViews(database, config, list),
  },
  {
    provide: NotificationActions,
    inject: [Database, CLOCK, NotificationDesk, NotificationViews],
    useFactory: (database: Database, clock: Clock, desk: NotificationDesk, views: NotificationViews) =>
      new NotificationActions(database, clock, desk, views),
  },
  {
    provide: ReceiverViews,
    inject: [Database, Receivers],
    useFactory: (database: Database, receivers: Receivers) => new ReceiverViews(database, receivers),
  },
  {
    provide: ReceiverDesk,
    inject: [Database, CLOCK, CONFIG, Receivers, ReceiverViews],
    useFactory: (database: Database, clock: Clock, config: Config, receivers: Receivers, views: ReceiverViews) => {
      const secrets = new WebhookSecrets(database, config);
      return new ReceiverDesk(database, clock, receivers, secrets, surroundings(config), views);
    },
  },
  {
    provide: WebhookDesk,
    inject: [Database, CLOCK, CONFIG, Receivers, Notifications],
    useFactory: (
      database: Database,
      clock: Clock,
      config: Config,
      receivers: Receivers,
      notifications: Notifications,
    ) => {
      const [secrets, disabling] = [new WebhookSecrets(database, config), new WebhookDisabling(notifications, config)];
      return new WebhookDesk(database, clock, receivers, secrets, disabling);
    },
  },
  {
    provide: ReceiverTest,
    inject: [Database, CLOCK, CONFIG, Receivers, Notifications],
    useFactory: (
      database: Database,
      clock: Clock,
      config: Config,
      receivers: Receivers,
      notifications: Notifications,
    ) => new ReceiverTest(database, clock, config, receivers, notifications),
  },
  {
    provide: ProviderDesk,
    inject: [Database, CONFIG, CLOCK],
    useFactory: (database: Database, config: Config, clock: Clock) => new ProviderDesk(database, config, clock),
  },
];
