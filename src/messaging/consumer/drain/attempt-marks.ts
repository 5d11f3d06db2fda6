import type { Refusal } from '../inspect';

/** What is known of attempts that never ended. */
export interface AttemptVerdict {
  /** Messages that are not to be tried any more, by id, and why: each becomes a dead letter. */
  condemned: ReadonlyMap<string, Refusal>;
  /** The one sequence whose head may be tried now, alone; undefined: all of them, together. */
  only: number | undefined;
}

/**
 * Marks attempts before they begin, in a transaction of its own, so that one which ends the process leaves a trace. Whatever outcome is
 * recorded wipes the traces out (`starts`, `started_at`), in its transaction.
 */
export interface AttemptMarks {
  /** @param sequences ids of messages that are to be tried, by key and in order */
  begin(partner: string, sequences: readonly (readonly string[])[]): Promise<AttemptVerdict>;
  /** Nothing of the partner is in hand any more. */
  end(partner: string): Promise<void>;
}
