import type { RawHeaders } from '../../contracts';

export type HeaderValue = string | Buffer | null;

/** A record as it goes out; the partition stands on the batch. */
export interface LaneRecord {
  key: string | Buffer | null;
  /** null is a tombstone. */
  value: Buffer | null;
  /** A list: the name comes as often. null: a header without a value. */
  headers: Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>;
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

/**
 * Records of one topic-partition, in offset order, and what their consumer may do with them. A partition has at most one
 * batch in hand. What is not told to be done by the time `onBatch` settles comes again, from the first such record on; no
 * record is ever skipped.
 */
export interface RecordBatch {
  topic: string;
  partition: number;
  records: readonly InboundRecord[];
  /** Offset behind the last record of the partition, as of the fetch. */
  highWatermark: bigint;
  /** Another number whenever the partition may have been somebody else's in between. */
  generation: number;
  /**
   * Begin nothing more with it: the group is rebalancing, we lost our place in it, we are closing, or it was paused. What was
   * underway may be finished and told to {@link done}; where the partition is ours no longer, that is ignored.
   */
  isStale(): boolean;
  /**
   * Keeps the membership alive; called around await points of long work, at least every 7 s. Never rejects: what goes wrong
   * shows in {@link isStale}. Work that doesn't look for 90 s loses the partition.
   */
  heartbeat(): Promise<void>;
  /**
   * Everything up to and including this offset has a recorded outcome. The commit of offset + 1 follows within 200 ms, at
   * once when we close or the group rebalances, and only while the partition is ours in the same generation of the group.
   */
  done(offset: bigint): Promise<void>;
  /**
   * Gives the rest of the batch back and takes the partition's fetching out of the loop for `ms` (at least; half a second
   * more at most), as for a database that is down or a flooded channel: other partitions flow, the membership lives, nothing
   * is counted. Waiting inside `onBatch` instead holds up the other partitions of the broker, so it is for seconds only.
   * `reason`, one sentence, shows as the source's trouble until a batch of the partition is done.
   */
  pause(ms: number, reason: string): void;
}

export type SourceState = 'starting' | 'joined' | 'rebuilding' | 'closed';

/** A consumer group member that stays alive: a crashed client is rebuilt with backoff, several crashes in a window end the process. */
export interface BatchSource {
  readonly state: SourceState;
  /** Has it ever joined its group? A consumer process is unready only until then. */
  readonly everJoined: boolean;
  /** When a fetch, a heartbeat or a batch last succeeded: a green probe never stands over a dead loop. */
  readonly lastActivity: Date | undefined;
  /** What keeps it from reading everything now, in one sentence. */
  readonly trouble: string | undefined;
  /** Starts in the background and never rejects for a broker that is not there yet. */
  start(): void;
  /** Leaves the group after the batches in hand are finished. Idempotent. */
  close(): Promise<void>;
  /**
   * Joins again with another list of topics (the whole group has the same list). Resolves when the batches in hand are
   * finished and the old membership is given up; joining goes on in the background.
   */
  restart(topics: readonly string[]): Promise<void>;
}

export interface BatchSourceOptions {
  groupId: string;
  /** Topics that don't exist are left out, reported as trouble, and joined when they appear. */
  topics: readonly string[];
  /**
   * Called for each batch, for several partitions at once. When it rejects, the failure is logged and the partition pauses
   * with growing backoff; then what was not done comes again.
   */
  onBatch: (batch: RecordBatch) => Promise<void>;
  /** Several crashes within minutes that the broker's absence doesn't explain: this process can't help itself. */
  onFatal: (error: Error) => void;
  timing?: Partial<SourceTiming>;
}

/** All in milliseconds. */
export interface SourceTiming {
  /** After this long without a heartbeat the group gives our partitions away. */
  sessionTimeout: number;
  /** How long a rebalance waits for our batches in hand. */
  rebalanceTimeout: number;
  heartbeat: number;
  /** How long a fetch waits at the broker when there is nothing. */
  maxWait: number;
  /** Least time between two offset commits. */
  commitInterval: number;
  /** How often missing topics are looked for. */
  probe: number;
  /** A joined client without fetch, heartbeat or batch for so long is dead and gets replaced. */
  deadAfter: number;
}
