import { type DynamicModule, Global, type InjectionToken, Module, type Provider, type Type } from '@nestjs/common';
import type { GaugeBoard } from '../platform/telemetry';
import { API_CONTROLLERS, API_PROVIDERS } from './api/api.providers';
import { WEBHOOK_PROVIDERS } from './channels/webhook/webhook.providers';
import { CORE_PROVIDERS } from './core.providers';
import { Notifications } from './notifications';
import { NotificationRequestHandler } from './requests/notification-request.handler';
import { NOTIFICATION_FIGURES, NOTIFIER, sendingProviders } from './sending/sending.providers';

/** What the process has already: tokens of global modules. */
export interface NotificationsParts {
  gauges: InjectionToken<GaugeBoard>;
}

/** Telling people and systems what happened. Global, since whatever room something happens in says so. Needs from global modules: Database, CLOCK, CONFIG, LOGGER, NOTIFICATION_OBSERVER. */
@Global()
@Module({})
export class NotificationsModule {
  static forRoot({ gauges }: NotificationsParts): DynamicModule {
    const controllers: Type[] = [...API_CONTROLLERS, NotificationRequestHandler];
    const providers: Provider[] = [
      ...CORE_PROVIDERS,
      ...WEBHOOK_PROVIDERS,
      ...sendingProviders(gauges),
      ...API_PROVIDERS,
    ];
    return {
      module: NotificationsModule,
      controllers,
      providers,
      exports: [Notifications, NOTIFIER, NOTIFICATION_FIGURES],
    };
  }
}
