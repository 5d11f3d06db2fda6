export { delaysOf } from './delays';
export { Outbox } from './outbox';
export { lastSent } from './last-sent';
export type { Outgoing, PreparedMessage } from './outbox-message';
export { ensurePartitions, maintainPartitions, type PartitionPass, type PartitionPolicy } from './partitions';
export { droppedOf, publicationsOf, receiptsOf, type Receipt, type SentAddress } from './receipts';
export { OutboxModule } from './outbox.module';
export { deadOutbound } from './parking/dead-outbound';
export { type ParkedOutbound, parkedOf, type ParkedState } from './parking/parked-list';
export type { StopCode } from './parking/reasons';
export { createRelay, Relay, type RelayOptions, type RelayState } from './relay';
export type { RelayObserver } from './relay-session';
export { WarmUp } from './warm-up';
// As the REST API shows them.
export type { OutboxStatusDto, ParkedOutboundDto } from './outbox.dto';
