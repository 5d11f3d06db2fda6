import { AppError } from '../../platform/errors';
import type { Logger } from '../../platform/telemetry';
import type { LanePublisher, LaneReceipt } from '../kafka';
import type { Lane } from './lane';
import type { ParkingTimes } from './parking/parking-rules';
import type { QueuedRow } from './queued-row';

export interface LanesOptions {
  publisher: LanePublisher;
  /** A client of its own for lanes that fail: a deleted topic poisons the metadata of its client, a hung request holds its slot. */
  quarantine: LanePublisher;
  /** `max.message.bytes` of a topic, if known. */
  maxMessageBytes: (topic: string) => number | undefined;
  parking: ParkingTimes;
  log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  /** Rows that the broker has, in the order in which they were sent. */
  onSent: (rows: readonly QueuedRow[], receipt: LaneReceipt) => void;
  /** A batch failed, for metrics. */
  onFailed: (topic: string) => void;
  /** Rows that leave the memory for parked_outbound, in order. `dead`: the first of them is the offender that holds the others. */
  onParked: (lane: Lane, rows: readonly QueuedRow[], state: 'waiting' | 'held', dead?: Death) => void;
  /** Asked before each send: has the relay still the right to publish, as far as it can know? */
  mayPublish: () => boolean;
  /** May nothing more be read until something is acknowledged or parked? */
  isFull: () => boolean;
}

/** Why the broker will never take a message as it is. */
export interface Death {
  code: string;
  detail: string;
}

/** What {@link Lanes.carry} rejects with: the rows wait in the database for a later attempt. */
export class LaneFailure extends AppError {}
