import type { Snapshot } from './snapshot';

/** A cursor write: `xid` is its transaction id, `seq` a position of the number sequence read in an earlier statement. */
interface Mark {
  xid: bigint;
  seq: bigint;
}

/** Lower bounds on `seq` for the two branches of a poll. */
export interface Floor {
  /** Rows with `xid >= xmax(done)` stand above it. */
  xmax: bigint;
  /** Rows whose xid was running in `done` stand above it. At most `xmax`. */
  xmin: bigint;
}

/** More marks than this pile up only behind a long transaction; then every other one is forgotten: a coarser bound is still true. */
const MOST_MARKS = 64;

/**
 * The floor: from which `seq` on rows can be that the cursor has not seen. Without one, a poll visits every retained
 * partition and a large window steps over all that is already sent.
 *
 * It can't be taken from `xmax(done)` itself: that is the latest *completed* id plus one, and a transaction that still
 * runs may hold a higher id and a low number. The argument that holds: read the sequence's position L; then, in a later
 * statement, let the cursor's own UPDATE take its transaction id F. An id above F was given out after F, hence after L was
 * read, and a transaction has its id before it draws a number (`xid` stands before `seq` in the table). So **every xid above
 * F drew a seq above L**. Rows with `xid >= xmax(done)` are above the newest L with F < xmax(done); rows of ids that were
 * running in `done` are above the newest L with F < xmin(done).
 */
export class Floors {
  private marks: Mark[] = [];

  /** @param saved the floor stored with the snapshot that the relay starts from; it stays true for every later one */
  constructor(private saved: Floor) {}

  /** `seq` was read before the statement began whose transaction id is `xid`. */
  mark(xid: bigint, seq: bigint): void {
    this.marks.push({ xid, seq });
    if (this.marks.length <= MOST_MARKS) return;
    // The newest stays, for what is read next.
    this.marks = this.marks.filter((_, index) => index % 2 === 0);
  }

  of(done: Snapshot): Floor {
    return { xmax: this.below(done.xmax, this.saved.xmax), xmin: this.below(done.xmin, this.saved.xmin) };
  }

  /**
   * Marks that no later snapshot can ask for: `done` only grows, so all but the newest below its xmin. Its floor stays true for
   * every later one and is kept: a cursor that waits long for one lane must not sink when marks are thinned out.
   */
  forget(done: Snapshot): void {
    this.saved = this.of(done);
    const first = this.marks.findLastIndex((mark) => mark.xid < done.xmin);
    if (first > 0) this.marks.splice(0, first);
  }

  private below(xid: bigint, saved: bigint): bigint {
    const seq = this.marks.findLast((mark) => mark.xid < xid)?.seq ?? saved;
    return seq > saved ? seq : saved;
  }
}
