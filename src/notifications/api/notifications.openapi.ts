import { ApiCreatedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { BODY_PROBLEMS, ETAG, IfMatch, LINK, LOCATION, NO_STORE, operation, STALE } from '../../platform/http';
import { NotificationPageDto, NotificationViewDto, UnmaskedNotificationDto } from './notification.dto';

// How the operations on notifications are described.

const PATH = '/v1/notifications';
const Id = ApiParam({ name: 'id', description: 'As shown', example: '0b4ad6a8-0d5c-5b1d-9f0c-2d0f4b1a7e55' });
const RESEND_PROBLEMS = ['notification-secret', 'receiver-unknown', 'receiver-unreachable'];
const CHANGE = [...BODY_PROBLEMS, 'notification-unknown', 'notification-state', ...STALE];

export const ListNotifications = (): MethodDecorator =>
  operation(
    'listNotifications',
    'List notifications, newest first',
    ['request-invalid', 'cursor-invalid'],
    ApiOkResponse({ type: NotificationPageDto, headers: LINK(PATH) }),
  );

export const GetNotification = (): MethodDecorator =>
  operation(
    'getNotification',
    'Show where a notification stands, with its attempts',
    ['notification-unknown'],
    ...[Id, ApiOkResponse({ type: NotificationViewDto, headers: ETAG })],
  );

export const ResendNotification = (): MethodDecorator =>
  operation(
    'resendNotification',
    'Send a settled or unknown notification anew, as another notification that names it',
    [...CHANGE, ...RESEND_PROBLEMS],
    ...[Id, IfMatch],
    ApiCreatedResponse({
      type: NotificationViewDto,
      description: 'The new one',
      headers: { ...ETAG, ...LOCATION(`${PATH}/6c1f2a9e-3f0b-5d27-8a54-7be0c2a1d9f3`) },
    }),
  );

export const CancelNotification = (): MethodDecorator =>
  operation(
    'cancelNotification',
    'Have a notification that waits not sent',
    CHANGE,
    ...[Id, IfMatch, ApiOkResponse({ type: NotificationViewDto, headers: ETAG })],
  );

export const ResolveNotification = (): MethodDecorator =>
  operation(
    'resolveNotification',
    'Say whether a notification of which nobody knew had gone out',
    CHANGE,
    ...[Id, IfMatch, ApiOkResponse({ type: NotificationViewDto, headers: ETAG })],
  );

export const UnmarkNotification = (): MethodDecorator =>
  operation(
    'unmarkNotification',
    'Have the address of a notification tried again that a provider refused for good, also of one that carries a secret',
    [...BODY_PROBLEMS, 'notification-unknown', 'notification-state'],
    ...[Id, ApiOkResponse({ type: NotificationViewDto, headers: ETAG })],
  );

export const UnmaskNotification = (): MethodDecorator =>
  operation(
    'unmaskNotification',
    'Show a notification with its address and what it says, for a reason that the audit keeps',
    [...BODY_PROBLEMS, 'notification-unknown', 'notification-secret'],
    ...[Id, ApiOkResponse({ type: UnmaskedNotificationDto, headers: { ...ETAG, ...NO_STORE } })],
  );
