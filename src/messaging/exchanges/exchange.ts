import type { Direction } from '../../contracts';

/**
 * `awaiting` → `acknowledged` (interim answer, with a deadline of its own) → `answered`; after its deadline `overdue` → `answered-late`;
 * from every open state `withdrawn`: nobody waits for the answer any more.
 */
export type ExchangeState = 'awaiting' | 'acknowledged' | 'answered' | 'overdue' | 'answered-late' | 'withdrawn';

/** States in which the answer is still to come. */
export const OPEN_EXCHANGE_STATES: readonly ExchangeState[] = ['awaiting', 'acknowledged', 'overdue'];

/** A request and what came back: the ledger behind "every request has a recorded end" (G5). */
export interface Exchange {
  correlationId: string;
  partner: string;
  /** `out`: we asked. */
  direction: Direction;
  /** Contract name of the request. */
  kind: string;
  orderNumber: string;
  requestMessageId: string;
  /** Decimal text of the request's outbox `seq`, of when it was sent first. */
  requestSeq: string | null;
  /** The same, of when it was sent last; null where it was sent once. */
  resentSeq: string | null;
  state: ExchangeState;
  /** When the answer is due now: sending again and an interim answer move it. */
  deadline: Date | null;
  resends: number;
  openedAt: Date;
  answerMessageId: string | null;
  answerCode: string | null;
  answeredAt: Date | null;
  /** When it became overdue, or was withdrawn. */
  endedAt: Date | null;
  endReason: string | null;
}

/** What an answer changes. */
export interface ExchangeAnswer {
  correlationId: string;
  partner: string;
  direction: Direction;
  state: ExchangeState;
  /** The new deadline; left out: as it was. */
  deadline?: Date | undefined;
  messageId: string;
  code: string;
  at: Date;
}
