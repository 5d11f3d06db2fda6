import type { Command } from 'commander';
import { instant, partnerId, text } from '../options';

/** Which dead letters, as options say. */
export interface SelectionOptions {
  group?: string;
  partner?: string;
  code?: string;
  contract?: string;
  order?: string;
  topic?: string;
  since?: string;
}

export const selecting = (command: Command): Command =>
  command
    .option('--group <fingerprint>', 'of this cause; see --groups of list', text)
    .option('--partner <id>', 'of this partner', partnerId)
    .option('--code <code>', 'that failed for this: invalid, undecodable, …', text)
    .option('--contract <name>', 'of this document: order-response', text)
    .option('--order <number>', 'of this order', text)
    .option('--topic <name>', 'of this topic', text)
    .option('--since <time>', 'that failed last since then: 30m, 12h, 7d, or 2026-02-03T04:05:06Z', instant);

/** In the words of the API. */
export function selectionOf({ group, partner, code, contract, order, topic, since }: SelectionOptions) {
  return { fingerprint: group, partner, code, contract, order, topic, since };
}
