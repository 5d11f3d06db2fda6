import { query, type Tx } from '../../platform/database';

/** Faults in a row that open it. */
const FAULTS = 5;
/** How long it is open first, ms; each failed trial doubles it. */
const INITIAL_MS = 5_000;
const MAX_MS = 10 * 60_000;
/** Longest that a provider's word (Retry-After) closes the tap, ms. */
const MAX_RETRY_AFTER_MS = 60 * 60_000;
/** Successes are written so often, ms: each would have every sender wait for the provider's row. */
const SUCCESS_EVERY_MS = 5_000;

/** What a call told of its provider. */
export interface Report {
  provider: string;
  /** `fault`: it does not work; `answered`: it does, whatever it said of this one; `accepted`: it does what it is for; `nothing`: it was not asked to send. */
  says: 'fault' | 'answered' | 'accepted' | 'nothing';
  code: string | null;
  detail: string | null;
  retryAfterMs: number;
  /** A fault that is ours to mend. */
  ours?: boolean;
  /** Of the breaker as the claim of a trial left it; null: none. */
  trial: Date | null;
}

/**
 * `open_until` is set while the breaker is open; once it has passed, claims let one through as a trial, and meanwhile only the trial's word counts:
 * what was under way when it opened neither closes it nor lengthens it (except a Retry-After). A fault of ours opens it like every other, since the
 * next one would fare no better; but that the provider itself fails is not known any more, and counts from its next fault.
 */
const FAULT = `
  UPDATE notification_provider SET
    failures = CASE WHEN open_until IS NULL OR :trial THEN failures + 1 ELSE failures END,
    failing_since = CASE WHEN NOT :ours THEN coalesce(failing_since, clock_timestamp()) END,
    open_until = CASE
      WHEN open_until IS NOT NULL AND NOT :trial OR NOT :trial AND failures + 1 < :faults THEN
        CASE WHEN :retryAfterMs::float8 > 0 THEN greatest(open_until, clock_timestamp() + :retryAfterMs::float8 * interval '1 millisecond') ELSE open_until END
      ELSE clock_timestamp() + greatest(:retryAfterMs::float8,
        least(:maxMs::float8, :initialMs::float8 * power(2, least(30, greatest(0, failures + 1 - :faults))))) * interval '1 millisecond' END,
    last_code = :code, last_detail = :detail
  WHERE name = :provider`;

const ANSWER = `
  UPDATE notification_provider SET
    failures = CASE WHEN open_until IS NULL OR :trial THEN 0 ELSE failures END,
    open_until = CASE WHEN :trial THEN NULL ELSE open_until END,
    failing_since = CASE WHEN :accepted THEN NULL ELSE failing_since END,
    last_success_at = CASE WHEN :accepted THEN clock_timestamp() ELSE last_success_at END
  WHERE name = :provider AND (:trial OR failures > 0 AND open_until IS NULL OR :accepted AND (failing_since IS NOT NULL
    OR last_success_at IS NULL OR last_success_at < clock_timestamp() - ${SUCCESS_EVERY_MS} * interval '1 millisecond'))`;

/** A trial has told nothing: the next one may try. Nobody else's pause ends with it, neither that of a later trial nor one that the provider asked for. */
export const END_TRIAL = `UPDATE notification_provider SET open_until = date_trunc('milliseconds', clock_timestamp()) WHERE name = :provider AND open_until = :until`;

/** Moves the breaker of a provider, for all processes. Behind a success of a provider that works nothing is written. */
export async function report(tx: Tx, about: Report): Promise<void> {
  const { provider, says, code, detail, ours = false } = about;
  const trial = about.trial !== null;
  if (says === 'nothing') {
    if (trial) await query(tx, END_TRIAL, { provider, until: about.trial });
  } else if (says === 'fault') {
    const retryAfterMs = Math.min(about.retryAfterMs, MAX_RETRY_AFTER_MS);
    const limits = { faults: FAULTS, initialMs: INITIAL_MS, maxMs: MAX_MS };
    await query(tx, FAULT, { provider, trial, ours, code, detail, retryAfterMs, ...limits });
  } else await query(tx, ANSWER, { provider, trial, accepted: says === 'accepted' });
}
