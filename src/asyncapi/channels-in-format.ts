import { type AnyContract, contractsFor, type Format, topicFor } from '../contracts';
import type { DocumentedChannel } from './partner-interface';

/** The channels that a partner would have, all in one format: documentation for a partner that isn't there yet. */
export function channelsInFormat(
  contracts: readonly AnyContract[],
  partner: string,
  format: Format,
): DocumentedChannel[] {
  const topics = contractsFor(contracts, partner).map((contract) => topicFor(contract, partner));
  return [...new Set(topics)].map((topic) => ({ topic, format }));
}
