export type { EventFault } from './domain/event-fault';
export type { CrashPolicy, NotificationKind } from './domain/kind';
export type { Channel, Destination, NotificationEvent } from './domain/notification';
export { KINDS } from './kinds/catalogue';
export { Notifications, type RequestOutcome } from './notifications';
export { NotificationsModule } from './notifications.module';
export type { NotificationNote } from './reading/notes';
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
