import type { AttemptMarks } from '../drain/attempt-marks';
import type { CarefulReading } from './careful-reading';
import type { FloodGate } from './flood-gate';

/** What stands between messages and their handlers. */
export interface Guards {
  /** Finds records that end the process. */
  careful?: CarefulReading | undefined;
  /** The same for parked messages. */
  marks?: AttemptMarks | undefined;
  /** Says which channels are not read now. */
  gate?: Pick<FloodGate, 'closed'> | undefined;
}
