export type { EventFault } from './domain/event-fault';
export type { CrashPolicy, NotificationKind } from './domain/kind';
export type { Channel, Destination, NotificationEvent } from './domain/notification';
export { Notifications, type RequestOutcome } from './notifications';
export { NotificationsModule } from './notifications.module';
export type { NotificationFigures } from './sending/figures';
export type { Notifier } from './sending/notifier';
export { NOTIFICATION_OBSERVER, type NotificationObserver } from './sending/observer';
export { NOTIFICATION_FIGURES, NOTIFIER } from './sending/sending.providers';
export type { NotificationNote } from './reading/notes';
export { createWatchers } from './watch/create-watchers';
// As the REST API shows and takes them.
export type {
  NotificationDto,
  NotificationPageDto,
  NotificationViewDto,
  UnmaskedNotificationDto,
} from './api/notification.dto';
export type { NotificationProviderDto } from './api/provider.dto';
export type { PutReceiverDto, ReceiverDto, ReceiverTestDto, RotatedSecretDto } from './api/receiver.dto';
export type { ReceiverBodyDto } from './api/receiver-body.dto';
