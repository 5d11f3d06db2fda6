import type { Floor } from './floors';
import { parseSnapshot, type Snapshot } from './snapshot';

/** How far reading or sending has come. This is also what the state row stores. */
export interface Position {
  /** Everything visible in it is read (or sent). */
  done: Snapshot;
  /** A frozen backlog that is being paged; null between backlogs. */
  window: Window | null;
}

export interface Window {
  /** The snapshot at which the backlog was frozen. */
  snapshot: Snapshot;
  /** No row of the backlog has a higher number. */
  hi: bigint;
  /** Rows up to here are read (or sent). */
  last: bigint;
}

export interface Poll {
  /** Position of the number sequence, read by the poll's own statement. */
  position: bigint;
  /** Text of the poll's snapshot. */
  snapshot: string;
  /** Was it cut off, by rows or by bytes? */
  overflow: boolean;
  /** Lowest number among the rows of ids that were running in `done`; undefined when that branch itself was cut off. */
  lowestOfRunning: bigint | null | undefined;
}

/** After a poll that took everything: all that its snapshot sees is read. */
export function afterPoll(poll: Poll): Position {
  return { done: parseSnapshot(poll.snapshot), window: null };
}

/**
 * After a poll that was cut off: its snapshot is frozen and paged in `seq` order. The backlog's rows are those with
 * `xid >= xmax(done)`, above `floor.xmax`, and those of ids that were running in `done`: the poll has just seen the lowest of
 * these, unless their branch was cut off too, and then they are above `floor.xmin`.
 */
export function freeze(done: Snapshot, poll: Poll, floor: Floor): Position {
  const { lowestOfRunning: lowest } = poll;
  const running = lowest === undefined ? floor.xmin : lowest === null ? floor.xmax : lowest - 1n;
  const last = running < floor.xmax ? running : floor.xmax;
  return { done, window: { snapshot: parseSnapshot(poll.snapshot), hi: poll.position, last } };
}

/** After a page: further up, or done with the window. */
export function afterPage(done: Snapshot, window: Window, page: { lastSeq: bigint; finished: boolean }): Position {
  return page.finished ? { done: window.snapshot, window: null } : { done, window: { ...window, last: page.lastSeq } };
}
