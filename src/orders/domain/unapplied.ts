import type { ParkedMessage } from '../../messaging/consumer';
import type { Standing } from './stopped';
import type { StepName } from './timeline';
import { count, spanInWords } from './words';

/** A message of the partner that changed nothing (yet), for people; undefined where its step of the history says it all. The reason is for staff: it may quote the partner's document. */
export function unapplied(
  partner: string,
  message: ParkedMessage,
  now: Date,
  standing?: Standing,
): { step: StepName; text: string } | undefined {
  const reason = `${message.detail ?? 'no reason recorded'} (${message.code ?? 'unknown'})`;
  const a = `A message of ${partner}`;
  switch (message.state) {
    case 'waiting':
      if (message.attempts === 0 && standing?.state === 'suspended') {
        return { step: 'answer-waits', text: `${a} is kept, and applied when ${partner} is resumed.` };
      }
      // Its code is that of an attempt before it was released; what failed of an outage of ours is not counted, and is due later.
      if (message.attempts === 0 && (message.nextAttemptAt ?? now) <= now)
        return { step: 'answer-waits', text: `${a} is tried as soon as it is its turn.` };
      return { step: 'answer-waits', text: `${a} could not be applied yet, ${tries(message, now)}: ${reason}.` };
    case 'held':
      return { step: 'answer-held', text: `${a} waits behind an earlier one of this order.` };
    case 'dead':
      return {
        step: 'answer-refused',
        text: `${a} can't be applied and is kept as dead letter ${message.id}: ${reason}.`,
      };
    default:
      return undefined;
  }
}

function tries({ attempts, nextAttemptAt }: ParkedMessage, now: Date): string {
  const tried = `tried ${count(attempts, 'time')}`;
  if (!nextAttemptAt) return tried;
  const pause = nextAttemptAt.getTime() - now.getTime();
  return `${tried}, next ${pause <= 0 ? 'at once' : `in ${spanInWords(pause)}`}`;
}
