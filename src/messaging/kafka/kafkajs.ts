// The one place that loads kafkajs. The patches come first: its modules keep the functions that they find when they load.
import './patches';
import { CompressionCodecs, CompressionTypes } from 'kafkajs';
import { type Codec, registerCodecs } from './codecs';
import { loadInternal } from './patches/version';

registerCodecs(CompressionCodecs, CompressionTypes, loadInternal('kafkajs-snappy') as () => Codec);

export {
  Kafka,
  KafkaJSError,
  logLevel,
  type Consumer,
  type EachBatchPayload,
  type KafkaMessage,
  type LogEntry,
} from 'kafkajs';
export type { Admin, PartitionerArgs, Producer, RecordMetadata } from 'kafkajs';
