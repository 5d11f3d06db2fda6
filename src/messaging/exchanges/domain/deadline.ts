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
  /** When nothing was sent to the partner, oldest first; left out: never. */
  stops?: readonly PartnerStop[];
}

/** From its pause or suspension to its resumption. */
export interface PartnerStop {
  from: Date;
  to: Date;
}

/** What is done about an exchange whose deadline has passed, its reply topic being read that far. */
export type Verdict =
  /** It can't be judged yet; looked at again then. */
  | { kind: 'wait'; why: 'not-published' | 'answer-parked'; lookAt: Date }
  /** The partner could read the request so much later than it was written, and its time begins then; or it was stopped when its time would have ended. */
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
  { publication, hasParkedAnswer, stops = [] }: DeadlineFacts,
  { deadlineMs = 0, resend }: Pick<AnyContract, 'deadlineMs' | 'resend'>,
  now: Date,
): Verdict {
  const { deadline, resends, state } = exchange;
  const wait = (why: 'not-published' | 'answer-parked'): Verdict => ({
    kind: 'wait',
    why,
    lookAt: lookAgain(deadline, now),
  });
  if (publication === 'waiting') return wait('not-published');
  if (hasParkedAnswer) return wait('answer-parked');
  if (publication !== 'discarded') {
    const due = Math.max(afterStops(deadline, stops), dueOfLate(exchange, publication, deadlineMs));
    if (due > now.getTime()) return { kind: 'postpone', deadline: new Date(due) };
  }
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

/** The end of the partner's time where its first request came into Kafka late; 0: it did not. */
function dueOfLate(
  { state, resends, openedAt }: Pick<Exchange, 'state' | 'resends' | 'openedAt'>,
  publication: Exclude<DeadlineFacts['publication'], 'waiting' | 'discarded'>,
  deadlineMs: number,
): number {
  if (state !== 'awaiting' || resends > 0 || publication === 'dropped') return 0;
  const sentAt = publication.sentAt.getTime();
  return sentAt - openedAt.getTime() > PUBLISHED_LATE_MS ? sentAt + deadlineMs : 0;
}

/** The clock stands still for a deadline that would have passed while the partner was stopped: what was left of its time then is left when it is resumed. */
function afterStops(deadline: Date, stops: readonly PartnerStop[]): number {
  let due = deadline.getTime();
  for (const { from, to } of stops)
    if (from.getTime() <= due && due <= to.getTime()) due += to.getTime() - from.getTime();
  return due;
}

/** The longer it waits the rarer it is looked at: what is stuck for days costs little. */
export function lookAgain(deadline: Date, now: Date): Date {
  const pause = Math.min(LOOK.most, Math.max(LOOK.least, (now.getTime() - deadline.getTime()) / 4));
  return new Date(now.getTime() + pause);
}
