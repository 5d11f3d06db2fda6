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
