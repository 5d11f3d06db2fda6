/** Hears how long partners take; after a rolled-back transaction it may hear of one answer twice. */
export interface OrderObserver {
  /** `outcome`: what the answer was (`acknowledged`, `accepted`, `rejected`, …); from the request to the writing of its answer. */
  answered(partner: string, outcome: string, seconds: number): void;
}

export const ORDER_OBSERVER = Symbol('OrderObserver');

export const DEAF: OrderObserver = { answered: () => undefined };
