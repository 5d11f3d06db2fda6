export type { KafkaSettings } from './client-settings';
export { createKafkaAdmin, type KafkaAdmin, type TopicDescription, type TopicPlan } from './kafka-admin';
export { createLanePublisher } from './lane-publisher';
export { partitionOf } from './partition';
export { PublishError, type PublishOutcome } from './publish-error';
export type {
  BatchSource,
  InboundRecord,
  LaneBatch,
  LanePublisher,
  LaneReceipt,
  LaneRecord,
  RecordBatch,
  SourceState,
} from './types';
