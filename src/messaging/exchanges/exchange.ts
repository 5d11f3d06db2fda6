import type { Direction } from '../../contracts';

/** `awaiting` → `acknowledged` (interim answer) → `answered`; from either open state `withdrawn`: nobody waits for the answer any more. */
export type ExchangeState = 'awaiting' | 'acknowledged' | 'answered' | 'withdrawn';

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
  /** Decimal text of the request's outbox `seq`. */
  requestSeq: string | null;
  state: ExchangeState;
  deadline: Date | null;
  resends: number;
  openedAt: Date;
  answerMessageId: string | null;
  answerCode: string | null;
  answeredAt: Date | null;
}

/** What an answer changes. */
export interface ExchangeAnswer {
  correlationId: string;
  partner: string;
  direction: Direction;
  state: 'acknowledged' | 'answered';
  messageId: string;
  code: string;
  at: Date;
}
