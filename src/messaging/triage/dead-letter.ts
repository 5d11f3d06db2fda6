import { CONTRACTS, typeOf } from '../../contracts';

/**
 * `dead` needs somebody · `waiting` for its next attempt (of a dead letter: a replay released it) · `held` behind an earlier one of its
 * key · `processed` and `discarded` are resolved.
 */
export const LETTER_STATES = ['dead', 'waiting', 'held', 'processed', 'discarded'] as const;
export type LetterState = (typeof LETTER_STATES)[number];

/** A message that could not be applied, without its content. */
export interface DeadLetter {
  /** Decimal text. */
  id: string;
  state: LetterState;
  /** Grows with every change: the ETag. */
  version: number;
  partner: string;
  /** Record key as text, or its digest; null where the record has none. */
  key: string | null;
  topic: string;
  partition: number;
  /** Decimal text. */
  offset: string;
  /** `ce_type` as the record says. */
  type: string | null;
  messageId: string | null;
  correlationId: string | null;
  code: string | null;
  pointer: string | null;
  detail: string | null;
  failedIn: string | null;
  fingerprint: string | null;
  attempts: number;
  firstFailedAt: Date | null;
  lastFailedAt: Date | null;
  parkedAt: Date;
  nextAttemptAt: Date | null;
  replayId: string | null;
  resolvedAt: Date | null;
  resolvedBy: string | null;
  resolution: string | null;
  dltPublishedAt: Date | null;
  dltAttempts: number;
  dltNextAt: Date | null;
  dltTrouble: string | null;
  /** Later messages of its key that wait for it, counted up to {@link MOST_HELD}. */
  held: number;
  /** Who works on failures of its cause; null also where the caller may not know ({@link groupJoin}). */
  assignee: string | null;
}

/** Longer queues behind one message are not counted to their end. */
export const MOST_HELD = 1000;

/** {@link DeadLetter} of a row `p` of parked_inbound and its group `g`. */
export const LETTER_COLUMNS = `p.id, p.state, p.version, p.partner, p.key, p.topic, p.partition, p."offset", p.type, p.message_id AS "messageId",
  p.correlation_id AS "correlationId", p.code, p.pointer, p.detail, p.failed_in AS "failedIn", p.fingerprint, p.attempts,
  p.first_failed_at AS "firstFailedAt", p.last_failed_at AS "lastFailedAt", p.parked_at AS "parkedAt", p.next_attempt_at AS "nextAttemptAt",
  p.replay_id AS "replayId", p.resolved_at AS "resolvedAt", p.resolved_by AS "resolvedBy", p.resolution, p.dlt_published_at AS "dltPublishedAt",
  p.dlt_attempts AS "dltAttempts", nullif(p.dlt_next_at, '-infinity') AS "dltNextAt", p.dlt_trouble AS "dltTrouble", g.assignee,
  CASE WHEN p.holds AND p.key IS NOT NULL AND p.state IN ('waiting', 'dead') THEN
    (SELECT count(*)::int FROM (SELECT 1 FROM parked_inbound l WHERE l.channel_id = p.channel_id AND l.key = p.key AND l.holds AND l.id > p.id
       AND l.state IN ('waiting', 'held', 'dead') LIMIT ${MOST_HELD}) later) ELSE 0 END AS held`;

/**
 * Joins what staff say of its cause to a row `p`, as `g`. A cause is one for all partners, so what is said of it may speak of any: who may see only some
 * reads nothing of it.
 */
export const groupJoin = (scope: readonly string[] | null): string =>
  `LEFT JOIN failure_group g ON ${scope === null ? 'g.fingerprint = p.fingerprint' : 'false'}`;

/** Is or was a dead letter, in the words of the indexes: what was only retried is none. */
export const IS_LETTER = `(p.state IN ('dead', 'discarded') OR p.replay_id IS NOT NULL)`;

/** Types that a caller means: a contract's name stands for all its versions; anything else is taken as a `ce_type`. */
export function typesOf(contract: string): string[] {
  const types = CONTRACTS.filter(({ name }) => name === contract).map(typeOf);
  return types.length > 0 ? types : [contract];
}

/** `order-response.v1` for a type of ours; null for what is none of our documents. */
export function contractOf(type: string | null): string | null {
  const contract = CONTRACTS.find((candidate) => typeOf(candidate) === type);
  return contract ? `${contract.name}.v${contract.version}` : null;
}
