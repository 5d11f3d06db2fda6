import type { CarefulReading } from './careful-reading';
import type { FloodGate } from './flood-gate';

/** What stands between a fetched batch and its handlers. */
export interface Guards {
  /** Finds records that end the process. */
  careful?: CarefulReading | undefined;
  /** Says which channels are not read now. */
  gate?: Pick<FloodGate, 'closed'> | undefined;
}
