export { Outbox } from './outbox';
export type { Outgoing, PreparedMessage } from './outbox-message';
