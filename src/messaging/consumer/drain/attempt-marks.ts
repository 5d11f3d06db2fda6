import type { Refusal } from '../inspect';

/** What is known of attempts that never ended. */
export interface AttemptVerdict {
  /** Messages that are not to be tried any more, by id, and why: each becomes a dead letter. */
  condemned: ReadonlyMap<string, Refusal>;
  /** Is each of the others to be tried in a transaction of its own? */
  alone: boolean;
}

/**
 * Marks attempts before they begin, in a transaction of its own, so that one which ends the process leaves a trace. Whatever outcome is
 * recorded wipes the marks out (`starts`, `started_at`), in its transaction.
 */
export interface AttemptMarks {
  begin(ids: readonly string[]): Promise<AttemptVerdict>;
}
