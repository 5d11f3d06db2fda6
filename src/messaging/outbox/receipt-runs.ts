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

/** A CTE that stores runs; its parameters begin at `$first`, see {@link receiptValues}. */
export const receiptSql = (first: number): string => {
  const at = (index: number) => `$${first + index}`;
  return `receipt AS (
     INSERT INTO outbox_receipt (topic, partition, base_offset, first_seq, last_seq, seqs)
     SELECT t, p, b, f, l, s::bigint[] FROM unnest(${at(0)}::text[], ${at(1)}::int[], ${at(2)}::bigint[], ${at(3)}::bigint[], ${at(4)}::bigint[], ${at(5)}::text[]) u(t, p, b, f, l, s))`;
};

export const receiptValues = (runs: readonly Run[]): unknown[] => [
  runs.map((run) => run.topic),
  runs.map((run) => run.partition),
  runs.map((run) => run.baseOffset),
  runs.map((run) => run.firstSeq),
  runs.map((run) => run.lastSeq),
  runs.map((run) => `{${run.seqs.join(',')}}`),
];
