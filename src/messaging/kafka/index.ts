export { createBatchSource } from './batch-source';
export { adminAccount, type KafkaSettings } from './client-settings';
export {
  createKafkaAdmin,
  type KafkaAdmin,
  type PartitionProgress,
  type TopicDescription,
  type TopicPlan,
} from './kafka-admin';
export { createLanePublisher } from './lane-publisher';
export { onDemand } from './on-demand-publisher';
export { partitionOf } from './partition';
export { REFUSED_BATCH } from './patches/fetch-decoder';
export { PublishError, type PublishOutcome } from './publish-error';
export { createOwnRights, type OwnRights } from './security/own-rights';
export { createSecurityAdmin } from './security/security-admin';
export type { Acl, AclOperation, GroupMember, Quota, SecurityAdmin, TopicOption } from './security-types';
export type {
  BatchSource,
  BatchSourceOptions,
  HeaderValue,
  InboundRecord,
  LaneBatch,
  LanePublisher,
  LaneReceipt,
  LaneRecord,
  RecordBatch,
  SourceState,
} from './types';
