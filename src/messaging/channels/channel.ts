import type { Direction, Format } from '../../contracts';

/** One topic of one partner. The topic, not the payload, says whose message it is (an ACL guards it). */
export interface Channel {
  /** Small number that stands for the channel in hot tables. */
  id: number;
  partner: string;
  topic: string;
  direction: Direction;
  format: Format;
  /** Fixed for the topic's life: the partition of a key is computed from it at insert. */
  partitions: number;
  /** The topic's `max.message.bytes`; Kafka applies it to the (compressed) batch. */
  maxMessageBytes: number;
  /** Inbound: may a record without `ce_id` be identified by topic, partition and offset? Otherwise it is a dead letter. */
  allowMissingId: boolean;
}

/** The topic beside an inbound one on which its dead letters are shown to people's own tools. Never a channel, so never read by us. */
export const deadLetterTopic = (topic: string): string => `${topic}-dlt`;
