import type { OrderRequest, ResponseCode } from '../contracts';
import type { Behaviour } from './behaviour';

/**
 * Articles that exist for trials alone: how a partner's system knows what it is to answer. An order names one of them in its first line. What is asked for in another article is
 * the partner's to decide.
 */
export const TEST_ARTICLES: Readonly<Record<Exclude<ResponseCode, 'AB'>, string>> = {
  AP: 'CERT-ACCEPT',
  RE: 'CERT-REJECT',
  CA: 'CERT-CHANGE',
};

const BEHAVIOURS = new Map<string, Behaviour>([
  [TEST_ARTICLES.AP, 'accept'],
  [TEST_ARTICLES.RE, 'reject'],
  [TEST_ARTICLES.CA, 'change'],
]);

/** How the simulated partner does what the order's first article asks for, if it is one of these. */
export const askedBy = ({ lines }: Pick<OrderRequest, 'lines'>): Behaviour | undefined =>
  BEHAVIOURS.get(lines[0]?.item ?? '');
