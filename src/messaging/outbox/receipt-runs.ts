import type { LaneReceipt } from '../kafka';

/** Consecutive offsets of one lane whose messages have ascending numbers. */
export interface Run {
  topic: string;
  partition: number;
  /** Offset of the first message. */
  baseOffset: bigint;
  firstSeq: bigint;
  lastSeq: bigint;
  seqs: bigint[];
}

/**
 * Widest distance between the first and the last number of a run. A search for a number has to look at the runs that end
 * within this distance above it, so it bounds the work of every search.
 */
export const RUN_SPAN = 10_000n;

/** Cuts an acknowledged batch into runs: a late number (its transaction committed after later ones) starts a run of its own. */
export function toRuns(receipt: LaneReceipt, seqs: readonly bigint[]): Run[] {
  const runs: Run[] = [];
  let run: Run | undefined;
  seqs.forEach((seq, index) => {
    if (!run || seq <= run.lastSeq || seq - run.firstSeq > RUN_SPAN) {
      const { topic, partition, baseOffset } = receipt;
      run = { topic, partition, baseOffset: baseOffset + BigInt(index), firstSeq: seq, lastSeq: seq, seqs: [] };
      runs.push(run);
    }
    run.lastSeq = seq;
    run.seqs.push(seq);
  });
  return runs;
}
