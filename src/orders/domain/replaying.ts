import { CANCELLATION_CODES, RESPONSE_CODES } from '../../contracts';
import { decideCancellation } from './cancel';
import { refusedBy } from './decide';
import type { Order } from './order';
import { TRANSITIONS } from './transitions';

/** What an answer that died is judged by before it is replayed. */
export type AnsweredOrder = Pick<Order, 'orderNumber' | 'state' | 'cancellation'>;

/** May the document of this answer matter, or is what its order says of every code enough? */
export type Prospect = 'fine' | 'contradicts' | 'depends';

/** Of an answer to an order, or to its cancellation: does what is recorded refuse it for ever? By the tables that decide when it is replayed. */
export interface Foresight {
  codes: readonly string[];
  refuses: (order: AnsweredOrder, correlationId: string, code: string) => boolean;
}

export const RESPONSE: Foresight = {
  codes: RESPONSE_CODES,
  refuses: ({ state }, _, code) => {
    const known = RESPONSE_CODES.find((one) => one === code);
    return known !== undefined && refusedBy(TRANSITIONS[state][known], code, state)?.kind === 'dead';
  },
};

export const CANCELLATION_RESPONSE: Foresight = {
  codes: CANCELLATION_CODES,
  refuses: (order, correlationId, code) =>
    decideCancellation(order, { responseCode: code }, correlationId, new Date(0)).kind === 'dead',
};

/** Without the document: documents are dear, and most closed orders refuse every code. */
export function prospectOf({ codes, refuses }: Foresight, order: AnsweredOrder, correlationId: string): Prospect {
  const refused = codes.filter((code) => refuses(order, correlationId, code)).length;
  if (refused === 0) return 'fine';
  return refused === codes.length ? 'contradicts' : 'depends';
}
