import { type AnyContract, type Format, topicFor } from '../contracts';
import type { DocumentedChannel } from './partner-interface';

/** The channels that a partner would have, all in one format: documentation for a partner that isn't there yet. */
export function channelsInFormat(
  contracts: readonly AnyContract[],
  partner: string,
  format: Format,
): DocumentedChannel[] {
  return [...new Set(contracts.map((contract) => topicFor(contract, partner)))].map((topic) => ({ topic, format }));
}
