import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { BODY_PROBLEMS, LINK, operation } from '../../platform/http';
import { NotificationProviderDto, NotificationProviderPageDto } from './provider.dto';

// How the operations on providers are described.

export const ListProviders = (): MethodDecorator =>
  operation(
    'listNotificationProviders',
    'List who sends notifications, how that does, and what waits for it',
    ['request-invalid', 'cursor-invalid'],
    ApiOkResponse({ type: NotificationProviderPageDto, headers: LINK('/v1/notification-providers') }),
  );

export const RetryProvider = (): MethodDecorator =>
  operation(
    'retryNotificationProvider',
    'Have a provider that is not tried for now tried at once',
    [
      ...BODY_PROBLEMS,
      'notification-provider-unknown',
      'notification-provider-shared',
      'notification-provider-disabled',
    ],
    ApiParam({ name: 'name', description: 'As shown; its "/" is written %2F', example: 'webhook/warehouse' }),
    ApiOkResponse({ type: NotificationProviderDto }),
  );
