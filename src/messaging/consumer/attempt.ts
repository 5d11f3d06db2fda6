import { DEFAULT_RETRY, type RetryPolicy, typeOf } from '../../contracts';
import { backoffMs } from '../../platform/polling';
import type { FreshRecord } from './batch-fold';
import { type FailedIn, fingerprintOf, thrownOf } from './failure';
import { discreet } from './discretion';
import type { Outcome } from './handler';
import type { Refusal } from './inspect';
import { storableText } from './text';

/** What was tried before. */
export interface History {
  /** Those that count. */
  attempts: number;
  /** Since when its age counts; null: it has not failed yet. */
  since: Date | null;
  /** When it was to be tried; null: it was held behind another, and had its turn with that. */
  dueAt: Date | null;
}

/** A failed attempt as it is recorded, and what comes of it. */
export interface Failure {
  /** `waiting` until {@link nextAttemptAt}, or `dead`. */
  state: 'waiting' | 'dead';
  outcome: Refusal;
  attempts: number;
  since: Date;
  nextAttemptAt: Date | null;
  /** Does its key wait with it? */
  holds: boolean;
  code: string;
  detail: string;
  pointer: string | null;
  failedIn: FailedIn;
  rootCause: string | null;
  fingerprint: string;
}

/** Longest error text kept beside a record. */
const MAX_DETAIL = 1000;

/**
 * When a message that failed is tried again; undefined: that was its last attempt. The last pause ends with its age, so that
 * what heals late is not given up early.
 * @param attempts how many there were, this one included
 */
export function nextAttempt(
  policy: RetryPolicy,
  { attempts, since }: { attempts: number; since: Date },
  now: Date,
  random?: number,
): Date | undefined {
  const end = since.getTime() + policy.maxAgeMs;
  if (attempts >= policy.attempts || now.getTime() >= end) return undefined;
  return new Date(Math.min(end, now.getTime() + backoffMs(policy, attempts, random)));
}

/**
 * Since when the age of what fails now counts. While it is due and not tried the age stands still: its partner is suspended, no consumer runs, or something of ours is
 * away, and the message would die of that where its cure is. What was held behind another begins anew; its attempts go on being counted.
 */
export function countedSince({ since, dueAt }: History, now: Date): Date {
  if (!since || !dueAt) return now;
  return new Date(since.getTime() + Math.max(0, now.getTime() - dueAt.getTime()));
}

/** What becomes of a record that was not applied: its contract says how often it is tried. A refusal that nothing heals is no attempt. */
export function failureOf({ inspected, refusal }: FreshRecord, judged: Refusal, before: History, now: Date): Failure {
  const { contract, key } = inspected;
  const failedIn = placeOf(judged, refusal);
  const outcome = discreet(judged, inspected);
  const since = countedSince(before, now);
  const attempts = before.attempts + (outcome.kind === 'retry' || !refusal ? 1 : 0);
  const policy = contract?.retry ?? DEFAULT_RETRY;
  const next = outcome.kind === 'retry' ? nextAttempt(policy, { attempts, since }, now) : undefined;
  const pointer = outcome.kind === 'dead' ? outcome.pointer : undefined;
  const thrown = thrownOf(outcome);
  return {
    state: next ? 'waiting' : 'dead',
    outcome,
    attempts,
    since,
    nextAttemptAt: next ?? null,
    holds: key !== null && (contract?.laterMessages ?? 'hold') === 'hold',
    code: outcome.code,
    detail: storableText(outcome.detail, MAX_DETAIL),
    pointer: pointer === undefined ? null : storableText(pointer),
    failedIn,
    rootCause: thrown?.rootCause ?? null,
    fingerprint: fingerprintOf({
      code: outcome.code,
      type: contract && typeOf(contract),
      pointer,
      failedIn,
      classes: thrown?.classes ?? [],
    }),
  };
}

/** The outcome of a record that was not applied has a reason. */
export function isRefusal(outcome: Outcome): outcome is Refusal {
  return outcome.kind === 'retry' || outcome.kind === 'dead';
}

function placeOf(outcome: Refusal, refusal: Refusal | undefined): FailedIn {
  if (outcome.failedIn) return outcome.failedIn;
  if (outcome === refusal) return 'inspection';
  return thrownOf(outcome) ? 'exception' : 'handler';
}
