import type { Exchange } from '../../messaging/exchanges';
import type { Standing } from './stopped';
import type { StepName } from './timeline';
import { spanInWords } from './words';

/** A request of ours as the ledger has it, and what decides whether its deadline can be judged. */
export interface AwaitedExchange {
  exchange: Exchange;
  /** Is the request, as it was sent last, in Kafka? */
  isPublished: boolean;
  /** Is a message that answers it parked and unresolved? */
  hasParkedAnswer: boolean;
  /** Until when the topic of its answers has been read; null: nobody has said. */
  readUpTo: Date | null;
}

/** What a request still waits for, for people; undefined where nothing. */
export function awaited(
  request: AwaitedExchange,
  now: Date,
  standing?: Standing,
): { step: StepName; text: string } | undefined {
  const { exchange, isPublished } = request;
  const { state, partner, deadline, endReason } = exchange;
  const answer = `${partner}'s ${exchange.kind === 'order-cancellation' ? 'answer to the cancellation' : 'final answer'}`;
  if (state === 'overdue' && deadline) {
    const since = `${spanInWords(now.getTime() - deadline.getTime())} (${deadline.toISOString()})`;
    return {
      step: 'answer-overdue',
      text: `${answer} is overdue since ${since}: ${endReason ?? 'no reason recorded'}.`,
    };
  }
  if (state !== 'awaiting' && state !== 'acknowledged') return undefined;
  if (!deadline) return { step: 'waiting-for-answer', text: `Waiting for ${answer}.` };
  const span = spanInWords(now.getTime() - deadline.getTime());
  if (deadline >= now) {
    // Until it is in Kafka it waits for us, and that is said where the message is.
    if (!isPublished) return undefined;
    return { step: 'waiting-for-answer', text: `Waiting for ${answer}, due in ${span} (${deadline.toISOString()}).` };
  }
  const text = `${answer} was due ${span} ago (${deadline.toISOString()}), which is not judged yet: ${missing(request, deadline, standing)}.`;
  return { step: 'answer-due', text };
}

function missing(
  { isPublished, hasParkedAnswer, readUpTo, exchange }: AwaitedExchange,
  deadline: Date,
  standing: Standing | undefined,
): string {
  if (standing && standing.state !== 'active') return `${exchange.partner} is ${standing.state}`;
  if (!isPublished) return 'the request is not published yet';
  if (hasParkedAnswer) return `a message of ${exchange.partner} that answers it is parked`;
  if (!readUpTo) return 'nobody has said yet how far the answer topic has been read';
  if (readUpTo < deadline) return `the answer topic has only been read up to ${readUpTo.toISOString()}`;
  return 'it is next to be looked at';
}
