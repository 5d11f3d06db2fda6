export type { Channel, Destination, NotificationEvent } from './domain/notification';
export { Notifications } from './notifications';
