import { TEST_ARTICLES } from '../articles';
import type { CompanyDesk, Prepared } from './company-desk';

interface PlayRules {
  help: string;
  article: string;
  /** What is written for an order, in this order. */
  requests: (desk: CompanyDesk, order: Prepared) => Promise<readonly Prepared[]>;
}

const alone = (_: CompanyDesk, order: Prepared) => Promise.resolve([order]);

/** What the company can play. */
export const PLAYS = {
  accept: { help: `orders of the article ${TEST_ARTICLES.AP}`, article: TEST_ARTICLES.AP, requests: alone },
  reject: { help: `orders of the article ${TEST_ARTICLES.RE}`, article: TEST_ARTICLES.RE, requests: alone },
  change: { help: `orders of the article ${TEST_ARTICLES.CA}`, article: TEST_ARTICLES.CA, requests: alone },
  cancel: {
    help: 'each order with its cancellation right behind it',
    article: TEST_ARTICLES.AP,
    requests: async (desk, order) => [order, await desk.cancellation(order.exchange.order)],
  },
  duplicate: {
    help: 'each order twice, byte for byte',
    article: TEST_ARTICLES.AP,
    requests: (_, order) => Promise.resolve([order, order]),
  },
  burst: { help: 'all orders at once', article: TEST_ARTICLES.AP, requests: alone },
} satisfies Record<string, PlayRules>;
export type Play = keyof typeof PLAYS;

export const rulesOf = (play: Play): PlayRules => PLAYS[play];
