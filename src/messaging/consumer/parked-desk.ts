import type { Tx } from '../../platform/database';

/** What became of one message that was to be released. */
export type Release =
  /** It is `waiting` and due now, or `held` behind an earlier one of its key that has its turn before. */
  | 'released'
  /** It is no dead letter (any more): somebody was faster, or it never was. */
  | 'not-dead'
  /** An earlier dead letter of its key stays as it is and holds it: nothing was changed. */
  | 'behind';

/** What became of a released message, told in the transaction that records it. */
export interface ReplayResult {
  parkedId: string;
  replayId: string;
  /** `waiting`: it failed and will be tried again by its contract's backoff. */
  result: 'processed' | 'waiting' | 'failed-again';
  code: string | undefined;
  detail: string | undefined;
}

/** Hears of every outcome of a message that a replay released. */
export interface ReplayObserver {
  settled(tx: Tx, results: readonly ReplayResult[]): Promise<void>;
}

/** A document that stands in for the bytes of a dead letter. */
export interface ParkedEdit {
  parkedId: string;
  /** The edited document's own id (UUID); its cause is the original message. */
  messageId: string;
  document: unknown;
  /** RFC 6902. */
  diff: readonly unknown[];
  reason: string;
  madeBy: string;
  /** Does it count at once, or only when a second person agrees? */
  state: 'pending' | 'approved';
}

/**
 * What staff may do with parked messages. Every verb is a step of the caller's transaction, which also audits it; it locks the parked keys
 * of the rows that it names (sorted), then the rows (sorted by id), and keeps the order of every key (key-turns.ts). Ids are decimal text.
 */
export interface ParkedDesk {
  /**
   * Gives dead letters to the drain: due in their turn, attempts counted anew, under this replay's id. Two of one key
   * are applied in their order. Never through Kafka.
   */
  release(tx: Tx, ids: readonly string[], replayId: string, now: Date): Promise<ReadonlyMap<string, Release>>;
  /** Makes waiting messages due at once; returns the ids of those that were waiting. */
  retryNow(tx: Tx, ids: readonly string[], now: Date): Promise<string[]>;
  /**
   * A dead letter that nobody wants: `discarded`, and what waited behind it follows. Throws NonRetriableError `parked-unknown`,
   * `parked-not-dead`, or `version-stale` when `version` is no longer the row's.
   */
  discard(tx: Tx, id: string, version: number, by: { caller: string; reason: string }, now: Date): Promise<void>;
  /** A discarded one is a dead letter again and holds its key, as its contract says. Throws as {@link discard}, and `parked-not-discarded`. */
  restore(tx: Tx, id: string, version: number, by: { caller: string; reason: string }, now: Date): Promise<void>;
  /**
   * Keeps an edit; an approved one is applied from then on in place of the bytes, when the message is released. Returns its
   * id. The new message id is taken in the inbox, so that it stays this one's. Throws as {@link discard}.
   */
  edit(tx: Tx, edit: ParkedEdit, version: number, now: Date): Promise<string>;
  /** A second person agrees or refuses. Throws `edit-unknown`, `edit-decided`, `edit-own` (who made it can't agree to it). */
  decide(tx: Tx, editId: string, verdict: 'approved' | 'refused', by: string, now: Date): Promise<void>;
}
