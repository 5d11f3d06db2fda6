import type { Channel } from '../../channels';
import type { InboundRecord } from '../../kafka';
import { JsonCodec } from '../../registry';
import { type ContractsByType, inspect, type InspectedRecord, type Refusal } from '../inspect';
import { MOST_STARTS } from './starts';

const NO_CONTRACTS: ContractsByType = new Map();

export const PROCESS_KILLER: Refusal = {
  kind: 'dead',
  code: 'process-killer',
  detail: `The record ended ${MOST_STARTS} processes that worked on it, and is given to none any more.`,
  failedIn: 'process',
};

/** A record that ended processes, with all that can be said of it without reading its value: that may be what ends them. */
export async function condemned(
  record: InboundRecord,
  channel: Channel,
  contracts: ContractsByType,
): Promise<InspectedRecord> {
  const inspected = await inspect(record, channel, NO_CONTRACTS, new JsonCodec(), 0);
  const contract = contracts.get(inspected.envelope.type ?? '');
  return { ...inspected, contract, content: { refusal: PROCESS_KILLER } };
}
