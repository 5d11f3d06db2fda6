import type { LookUpOutcome, SendOutcome } from '../channels/provider';
import type { NotificationKind } from './kind';
import type { ClaimedNotification } from './notification';

/** What is known of whoever would send it. */
export interface ProviderFacts {
  remembersMs: number;
  /** Longest from a decision until a request that was made by it may reach the provider, ms: a lease and a timeout. */
  reachesWithinMs: number;
  /** Can be asked what became of a request. */
  looksUp: boolean;
}

export interface Situation {
  notification: Pick<ClaimedNotification, 'attempts' | 'doubtful' | 'firstBegunAt' | 'expiresAt'>;
  kind: Pick<NotificationKind, 'crash' | 'retry'>;
  provider: ProviderFacts;
  /** The first moment from then on at which its receiver may be disturbed; the same moment where it may be already. */
  mayDisturb: (at: Date) => Date;
}

export type SettledState = 'sent' | 'failed' | 'unknown' | 'expired' | 'cancelled';

/** What is written: it ends, or waits for another look. */
export type Verdict =
  | { state: SettledState; doubtful: boolean; code: string | null; detail: string | null }
  | {
      state: 'pending';
      nextAttemptAt: Date;
      doubtful: boolean;
      /** No request has ever reached the provider: its memory counts from the next one. */
      forgets?: boolean;
      code: string;
      detail: string;
    };

export type Step = { do: 'send' } | { do: 'look-up' } | { do: 'write'; verdict: Verdict };

/** The attempt that an outcome ends. */
export interface Begun {
  action: 'send' | 'look-up';
  begunAt: Date;
  /** Before that a look-up can say too early that nothing came: lease and timeout after the attempt's begin. */
  conclusiveAt: Date;
  /** Was an earlier attempt in doubt? */
  wasDoubtful: boolean;
  /** Drawn from the kind's backoff, ms. */
  pauseMs: number;
}

/** `not-sent`: the attempt was written, and then there was no time left to call the provider. */
export type Outcome = SendOutcome | LookUpOutcome | { kind: 'not-sent'; code: string; detail: string };

const earlier = (a: Date, b: Date): Date => (a < b ? a : b);
const later = (a: Date, b: Date): Date => (a < b ? b : a);
const after = (at: Date, ms: number): Date => new Date(at.getTime() + ms);

/**
 * What to do with a notification that is due. In doubt (an attempt may or may not have had its effect) it is sent again under the same id as
 * long as the provider remembers that id, whatever the kind says; behind that memory the kind decides. `repeat` is not ended by its number
 * of attempts here: crashes used them up, no answer of the provider did, and rather twice than never is what it asks for.
 */
export function plan(situation: Situation, now: Date): Step {
  const { notification, kind, provider, mayDisturb } = situation;
  const expired = now >= notification.expiresAt;
  const send = (): Step => {
    const at = mayDisturb(now);
    if (at <= now) return { do: 'send' };
    const nextAttemptAt = earlier(at, notification.expiresAt);
    const { doubtful } = notification;
    const why = { code: 'quiet-hours', detail: 'Its receiver wants quiet until then.' };
    return { do: 'write', verdict: { state: 'pending', nextAttemptAt, doubtful, ...why } };
  };
  if (!notification.doubtful) return expired ? { do: 'write', verdict: tooLate(false) } : send();
  if (kind.crash === 'repeat') return expired ? { do: 'write', verdict: tooLate(true) } : send();
  const left = notification.attempts < kind.retry.attempts;
  if (!expired && left && remembers(situation, now)) return send();
  if (kind.crash === 'look-up' && provider.looksUp) return { do: 'look-up' };
  return { do: 'write', verdict: givenUp(kind.crash) };
}

/** Under our id the provider does nothing that it has done, whenever within its lease the request is made that is decided on at that time. */
function remembers({ notification, provider }: Situation, at: Date): boolean {
  const { firstBegunAt } = notification;
  return firstBegunAt !== null && after(at, provider.reachesWithinMs) < after(firstBegunAt, provider.remembersMs);
}

const tooLate = (doubtful: boolean): Verdict => ({
  state: 'expired',
  doubtful,
  code: doubtful ? 'expired-in-doubt' : 'expired',
  detail: doubtful ? 'It is worth nothing any more.' : 'It could not be sent while it was worth anything.',
});

const givenUp = (policy: 'skip' | 'look-up'): Verdict =>
  policy === 'skip'
    ? {
        state: 'failed',
        doubtful: true,
        code: 'may-have-gone-out',
        detail: 'Its kind is rather never sent than twice.',
      }
    : {
        state: 'unknown',
        doubtful: true,
        code: 'nobody-knows',
        detail: 'Nobody could tell us what became of it.',
      };

/**
 * What an attempt's outcome makes of its notification. `situation` is as it stands with this attempt counted.
 * @param now by the database's clock, as all times here
 */
export function judge(situation: Situation, begun: Begun, outcome: Outcome, now: Date): Verdict {
  switch (outcome.kind) {
    case 'accepted':
      return { state: 'sent', doubtful: false, code: outcome.code ?? null, detail: outcome.detail ?? null };
    case 'found':
      return {
        state: 'sent',
        doubtful: false,
        code: 'found',
        detail: outcome.detail ?? 'The provider had it already.',
      };
    case 'refused':
      // A look-up's answer is about the attempt in doubt; a send's is not.
      return {
        state: 'failed',
        doubtful: begun.action === 'send' && begun.wasDoubtful,
        code: outcome.code,
        detail: outcome.detail,
      };
    case 'not-sent':
      return again(situation, begun, outcome, now);
    case 'later':
      return refusedForNow(situation, begun, outcome, now);
    case 'unknown':
      return inDoubt(situation, begun, outcome, now);
    case 'not-found':
      return notFound(situation, now);
    case 'unavailable':
      return unavailable(situation, begun, outcome, now);
  }
}

type Reason = { code: string; detail: string };

function again(situation: Situation, begun: Begun, reason: Reason, now: Date): Verdict {
  const { notification, mayDisturb } = situation;
  const at = earlier(mayDisturb(now), notification.expiresAt);
  const { wasDoubtful: doubtful } = begun;
  const { code, detail } = reason;
  return { state: 'pending', nextAttemptAt: doubtful ? conclusive(situation, begun, at) : at, doubtful, code, detail };
}

/**
 * Later, where a look-up may be what is done by the time that it is claimed: what could be sent again at `at` may have been forgotten or have
 * expired until then, and a request that is still under way would be looked for in vain.
 */
function conclusive(situation: Situation, { conclusiveAt }: Begun, at: Date): Date {
  return planInDoubt(situation, conclusiveAt).do === 'look-up' ? later(at, conclusiveAt) : at;
}

const planInDoubt = (situation: Situation, at: Date): Step =>
  plan({ ...situation, notification: { ...situation.notification, doubtful: true }, mayDisturb: (time) => time }, at);

function refusedForNow(situation: Situation, begun: Begun, outcome: Outcome & { kind: 'later' }, now: Date): Verdict {
  const wait = Math.max(begun.pauseMs, outcome.retryAfterMs ?? 0);
  if (situation.notification.attempts < situation.kind.retry.attempts)
    return again(situation, begun, outcome, after(now, wait));
  if (!begun.wasDoubtful || situation.kind.crash === 'repeat') return usedUp(situation, begun.wasDoubtful, outcome);
  return leftInDoubt(situation, begun, outcome, now);
}

/** The attempt itself is in doubt now. */
function inDoubt(situation: Situation, begun: Begun, outcome: Outcome & { kind: 'unknown' }, now: Date): Verdict {
  const { kind, notification } = situation;
  if (kind.crash === 'repeat' && notification.attempts >= kind.retry.attempts) return usedUp(situation, true, outcome);
  const [soon, asked] = [after(now, begun.pauseMs), after(now, outcome.retryAfterMs ?? 0)];
  // Not where by then nothing but to give it up would be left.
  const waits = asked > soon && planInDoubt(situation, asked).do !== 'write';
  return leftInDoubt(situation, begun, outcome, waits ? asked : soon);
}

/** Waits where there will be something to do at that time, and otherwise ends now. */
function leftInDoubt(situation: Situation, begun: Begun, reason: Reason, at: Date): Verdict {
  const { notification, mayDisturb } = situation;
  const { code, detail } = reason;
  const step = planInDoubt(situation, at);
  const waits = (nextAttemptAt: Date): Verdict => ({ state: 'pending', nextAttemptAt, doubtful: true, code, detail });
  if (step.do === 'send') return waits(conclusive(situation, begun, earlier(mayDisturb(at), notification.expiresAt)));
  if (step.do === 'look-up') return waits(later(at, begun.conclusiveAt));
  return step.verdict.state === 'expired' ? waits(notification.expiresAt) : step.verdict;
}

function usedUp({ notification }: Situation, doubtful: boolean, last: Reason): Verdict {
  const detail = `Given up after ${notification.attempts} attempts; the last: ${last.detail}`;
  return doubtful
    ? { state: 'failed', doubtful, code: 'may-have-gone-out', detail }
    : { state: 'failed', doubtful, code: last.code, detail };
}

/** It is as if nothing had been tried. However often we crashed: an answer, not their number, ends the attempts. */
function notFound({ notification, mayDisturb }: Situation, now: Date): Verdict {
  if (now >= notification.expiresAt) return tooLate(false);
  const nextAttemptAt = earlier(mayDisturb(now), notification.expiresAt);
  const why = { code: 'not-found', detail: 'The provider has never heard of it: it is sent again.' };
  return { state: 'pending', nextAttemptAt, doubtful: false, forgets: true, ...why };
}

function unavailable({ notification, kind }: Situation, begun: Begun, reason: Reason, now: Date): Verdict {
  if (notification.attempts >= kind.retry.attempts || now >= notification.expiresAt) return givenUp('look-up');
  const { code, detail } = reason;
  return { state: 'pending', nextAttemptAt: after(now, begun.pauseMs), doubtful: true, code, detail };
}
