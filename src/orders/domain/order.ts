import type { OrderContact, OrderRequestLine } from '../../contracts';

export const ORDER_STATES = [
  'placed',
  'acknowledged',
  'accepted',
  'rejected',
  'changed',
  'cancelled',
  'partly-shipped',
  'shipped',
] as const;
export type OrderState = (typeof ORDER_STATES)[number];

/** What a step of an order's history is called: the state that it led to, or what else happened. */
export const STEP_TYPES = [
  ...ORDER_STATES,
  'cancellation-requested',
  'cancellation-agreed',
  'cancellation-refused',
  'answer-noted',
  'despatch-refused',
  'sent-again',
  'overdue',
  'withdrawn',
] as const;
export type StepType = (typeof STEP_TYPES)[number];

export type OrderLine = OrderRequestLine;

/** What became of our wish that an order is not delivered. Times are RFC 3339, UTC. */
export interface Cancellation {
  /** Only `requested` waits for the partner; `withdrawn`: staff stopped waiting, and may ask again. */
  state: 'requested' | 'agreed' | 'refused' | 'withdrawn';
  /** Of its exchange. */
  correlationId: string;
  reason: string;
  requestedAt: string;
  answeredAt: string | null;
  answerReason: string | null;
}

/** What was said beside what the step's type tells. */
export interface OrderEventDetail {
  reason?: string;
  /** When the answer to our message is due, RFC 3339. */
  due?: string;
  /** What the partner's document says where the step's type doesn't: its code, its number. */
  code?: string;
  documentNumber?: string;
  /** Our answer to the partner's message, in the same transaction. */
  reply?: Reply;
  /** The answer came after the deadline. */
  late?: true;
  /** It came although staff had stopped waiting for it. */
  unawaited?: true;
  /** A request that was sent again: for the how-manieth time, of so many. */
  resend?: { times: number; of: number };
  /** Who of staff did it, by name; of an order that is placed also its id, for names change. */
  by?: string;
  caller?: string;
  /** Lines as the partner changed them. */
  lines?: readonly { lineNumber: number; quantity: string; unitPrice: string }[];
}

/** A message of ours in the outbox. */
export interface Reply {
  messageId: string;
  /** Decimal text. */
  seq: string;
  topic: string;
  partition: number;
}

/** A request of an order whose answer is overdue. */
export interface Overdue {
  /** Of its exchange. */
  correlationId: string;
  /** When it was called so: RFC 3339, UTC. */
  since: string;
}

/** What we asked a partner to deliver, and what became of it. */
export interface Order {
  orderNumber: string;
  partner: string;
  state: OrderState;
  /** 1 when placed; grows by one with every step. */
  version: number;
  currency: string;
  /** As ordered; never changes. */
  lines: OrderLine[];
  /** Whom the partner asks about it, as ordered; personal data. */
  contact: OrderContact | null;
  /** What the partner will deliver instead, once it accepted with change; null before and otherwise. */
  agreedLines: OrderLine[] | null;
  /** The last one that was asked for. */
  cancellation: Cancellation | null;
  /** Requests whose answer is overdue, as their exchanges say; null when there is none. */
  overdue: Overdue[] | null;
  /** When the partner's final answer was to come, as the order was placed; never changes, so that the first answer can be told again. */
  deadline: Date;
  createdAt: Date;
  updatedAt: Date;
}

/** After the request with this correlation id has become overdue. */
export const withOverdue = (overdue: Overdue[] | null, correlationId: string, since: Date): Overdue[] => [
  ...(withoutOverdue(overdue, correlationId) ?? []),
  { correlationId, since: since.toISOString() },
];

/** After it is overdue no longer. */
export function withoutOverdue(overdue: Overdue[] | null, correlationId: string): Overdue[] | null {
  const left = overdue?.filter((one) => one.correlationId !== correlationId) ?? [];
  return left.length > 0 ? left : null;
}
