import type { Exchange, ExchangeState } from '../exchange';

/** What an answer makes of its exchange. */
export interface Answered {
  state: ExchangeState;
  /** Where the answer moves it. */
  deadline?: Date;
}

/**
 * @param interimMs for an interim answer: how long the final one may take after it. It counts once: who acknowledges again and
 * again would never be overdue.
 */
export function afterAnswer(
  { state, answerCode }: Pick<Exchange, 'state' | 'answerCode'>,
  answer: 'interim' | 'final',
  now: Date,
  interimMs: number | undefined,
): Answered {
  // Who stopped waiting goes on not waiting; the ledger keeps what came all the same.
  if (state === 'withdrawn') return { state };
  if (answer === 'final') return { state: state === 'overdue' ? 'answered-late' : 'answered' };
  const isFirst = state === 'awaiting' || (state === 'overdue' && answerCode === null);
  if (!isFirst) return { state };
  return {
    state: 'acknowledged',
    ...(interimMs === undefined ? {} : { deadline: new Date(now.getTime() + interimMs) }),
  };
}

/**
 * Did an answer that was written then come after the time that the partner had? That we read it later, or had to try it again, is not the
 * partner's doing. A request that we called overdue or sent again was not answered in time whatever the answer says.
 */
export function isLate(
  { state, deadline, resends }: Pick<Exchange, 'state' | 'deadline' | 'resends'>,
  writtenAt: Date,
): boolean {
  if (state === 'overdue') return true;
  return (state === 'awaiting' && resends > 0) || (deadline !== null && deadline < writtenAt);
}
