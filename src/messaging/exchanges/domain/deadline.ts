import type { AnyContract } from '../../../contracts';
import type { Exchange } from '../exchange';

/** What of the world beside the ledger counts when a deadline has passed. */
export interface DeadlineFacts {
  /**
   * Of the request as it was sent last: it waits in the outbox, staff have discarded it there, it has a receipt, or it was sent so long ago
   * that the outbox keeps it no longer.
   */
  publication: 'waiting' | 'discarded' | 'dropped' | { sentAt: Date };
  /** Is there an answer that is parked and unresolved? Then it is ours to apply it, not the partner's to answer. */
  hasParkedAnswer: boolean;
}

/** What is done about an exchange whose deadline has passed, its reply topic being read that far. */
export type Verdict =
  /** It can't be judged yet; looked at again then. */
  | { kind: 'wait'; why: 'not-published' | 'answer-parked'; lookAt: Date }
  /** The partner could read the request so much later than it was written; its time begins then. */
  | { kind: 'postpone'; deadline: Date }
  | { kind: 'resend'; deadline: Date }
  | { kind: 'overdue'; reason: string };

const MINUTE = 60_000;
/** A request that takes longer into Kafka than this takes the partner's time. */
const PUBLISHED_LATE_MS = MINUTE;
/** Sooner and later end of the pause before the next look. */
const LOOK = { least: MINUTE, most: 30 * MINUTE };

export function verdictOf(
  exchange: Pick<Exchange, 'state' | 'resends' | 'openedAt'> & { deadline: Date },
  { publication, hasParkedAnswer }: DeadlineFacts,
  { deadlineMs = 0, resend }: Pick<AnyContract, 'deadlineMs' | 'resend'>,
  now: Date,
): Verdict {
  const { deadline, resends, openedAt, state } = exchange;
  const wait = (why: 'not-published' | 'answer-parked'): Verdict => ({
    kind: 'wait',
    why,
    lookAt: lookAgain(deadline, now),
  });
  if (publication === 'waiting') return wait('not-published');
  if (hasParkedAnswer) return wait('answer-parked');
  if (state === 'acknowledged') return { kind: 'overdue', reason: 'acknowledged, and no final answer in time' };
  if (publication === 'discarded') {
    return {
      kind: 'overdue',
      reason:
        resends === 0
          ? 'staff discarded the request, so it was never sent'
          : 'no answer, and staff discarded the request that was to be sent again',
    };
  }
  if (resends === 0 && publication !== 'dropped') {
    const { sentAt } = publication;
    const due = new Date(sentAt.getTime() + deadlineMs);
    const isLate = sentAt.getTime() - openedAt.getTime() > PUBLISHED_LATE_MS;
    if (isLate && due > now) return { kind: 'postpone', deadline: due };
  }
  if (!resend || resends >= resend.times) {
    return {
      kind: 'overdue',
      reason: resends === 0 ? 'no answer in time' : `no answer, though sent ${resends + 1} times`,
    };
  }
  // The same bytes are nowhere else.
  if (publication === 'dropped') {
    return {
      kind: 'overdue',
      reason: 'no answer in time; the outbox no longer keeps the request, so it was not sent again',
    };
  }
  return { kind: 'resend', deadline: new Date(now.getTime() + resend.everyMs) };
}

/** The longer it waits the rarer it is looked at: what is stuck for days costs little. */
export function lookAgain(deadline: Date, now: Date): Date {
  const pause = Math.min(LOOK.most, Math.max(LOOK.least, (now.getTime() - deadline.getTime()) / 4));
  return new Date(now.getTime() + pause);
}
