export type { EventFault } from './domain/event-fault';
export type { Channel, Destination, NotificationEvent } from './domain/notification';
export { Notifications, type RequestOutcome } from './notifications';
export { NotificationsModule } from './notifications.module';
export type { NotificationNote } from './reading/notes';
