export { createBatchSource } from './batch-source';
export type { KafkaSettings } from './client-settings';
export { createKafkaAdmin, type KafkaAdmin, type TopicDescription, type TopicPlan } from './kafka-admin';
export { createLanePublisher } from './lane-publisher';
export { partitionOf } from './partition';
export { PublishError, type PublishOutcome } from './publish-error';
export type {
  BatchSource,
  BatchSourceOptions,
  InboundRecord,
  LaneBatch,
  LanePublisher,
  LaneReceipt,
  LaneRecord,
  RecordBatch,
  SourceState,
} from './types';
