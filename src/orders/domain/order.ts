import type { OrderRequestLine } from '../../contracts';

export const ORDER_STATES = ['placed', 'acknowledged', 'accepted', 'rejected', 'changed'] as const;
export type OrderState = (typeof ORDER_STATES)[number];

export type OrderLine = OrderRequestLine;

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
  /** What the partner will deliver instead, once it accepted with change; null before and otherwise. */
  agreedLines: OrderLine[] | null;
  /** When the partner's final answer is due; never changes, so that the first answer can be told again. */
  deadline: Date;
  createdAt: Date;
  updatedAt: Date;
}

/** States in which the partner's final answer is still to come. */
export const OPEN_STATES: readonly OrderState[] = ['placed', 'acknowledged'];
