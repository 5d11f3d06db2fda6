export { partitionOf } from './partition';
export type { InboundRecord, LaneBatch, LaneReceipt, LaneRecord } from './types';
