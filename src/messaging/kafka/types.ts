import type { RawHeaders } from '../../contracts';

/** A record as it goes out; the partition stands on the batch. */
export interface LaneRecord {
  key: string | Buffer | null;
  /** null is a tombstone. */
  value: Buffer | null;
  headers: Record<string, string | Buffer>;
  /** Milliseconds since the epoch, as text; absent: the client's clock. */
  timestamp?: string;
}

/** What one produce request carries: one topic-partition, in order. */
export interface LaneBatch {
  topic: string;
  partition: number;
  records: readonly LaneRecord[];
}

/** The broker's word that every record of the batch is written, the first at `baseOffset`. */
export interface LaneReceipt {
  topic: string;
  partition: number;
  baseOffset: bigint;
}

/** A record as it came in, untouched. */
export interface InboundRecord {
  topic: string;
  partition: number;
  offset: bigint;
  /** Milliseconds since the epoch, set by the producer or the broker. */
  timestamp: number;
  key: Buffer | null;
  /** null is a tombstone. */
  value: Buffer | null;
  headers: RawHeaders;
}

/**
 * Sends lane batches. One request carries one topic-partition; the caller keeps at most one outstanding send per
 * topic-partition. A batch counts as sent only when {@link LanePublisher.send} resolves.
 */
export interface LanePublisher {
  /** Broker that leads the partition now, for slots: sends to one broker never run side by side. Rejects with PublishError. */
  leaderOf(topic: string, partition: number): Promise<number>;
  /**
   * Resolves only when the broker listed the partition with error 0 and a base offset (acks=all, idempotent). Rejects with
   * PublishError; after `outcome: 'unknown'` the batch may or may not be written and must be sent again, in order, before
   * anything else of the lane. The publisher has thrown its producer away by then.
   */
  send(batch: LaneBatch): Promise<LaneReceipt>;
  close(): Promise<void>;
}

/** Records of one topic-partition, in offset order, and what their consumer may do with them. */
export interface RecordBatch {
  topic: string;
  partition: number;
  records: readonly InboundRecord[];
  /** Offset behind the last record of the partition, as of the fetch. */
  highWatermark: bigint;
  /** No longer ours (rebalance, stop): do nothing more with it, commit nothing. */
  isStale(): boolean;
  /** Keeps the membership alive; called around await points of long work. */
  heartbeat(): Promise<void>;
  /** Everything up to and including this offset has a recorded outcome. Commits offset + 1 when the partition is still ours. */
  done(offset: bigint): Promise<void>;
}

export type SourceState = 'starting' | 'joined' | 'rebuilding' | 'closed';

/** A consumer group member that stays alive: a crashed client is rebuilt with backoff, several crashes in a window end the process. */
export interface BatchSource {
  readonly state: SourceState;
  /** Has it ever joined its group? A consumer process is unready only until then. */
  readonly everJoined: boolean;
  /** When a fetch, a heartbeat or a batch last succeeded: a green probe never stands over a dead loop. */
  readonly lastActivity: Date | undefined;
  /** What went wrong last, in one sentence, until things go well again. */
  readonly trouble: string | undefined;
  /** Starts in the background and never rejects for a broker that is not there yet. */
  start(): void;
  /** Leaves the group after the batches in hand are finished. Idempotent. */
  close(): Promise<void>;
  /** Joins again with another list of topics (the whole group has the same list). */
  restart(topics: readonly string[]): Promise<void>;
}
