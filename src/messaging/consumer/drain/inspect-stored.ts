import type { Channel } from '../../channels';
import { type Codec, JsonCodec } from '../../registry';
import { type ContractsByType, inspect, type InspectedRecord, type Refusal, REUSED } from '../inspect';
import { recordOf, type StoredMessage } from './stored-message';

/** A parked message and what can be said of it now, as a record that has just come is inspected. */
export interface InspectedMessage {
  stored: StoredMessage;
  /** What its handler gets: the bytes, or the edit in their place. */
  inspected: InspectedRecord;
  /** What its partner is told about: what it has written. */
  told: InspectedRecord;
  /** The id under which it takes effect. */
  messageId: string;
  refusal: Refusal | undefined;
}

/** An edit is JSON, whatever the channel speaks. */
const plain = new JsonCodec();

/** Rejects only with what is the registry's trouble. */
export async function inspectStored(
  stored: StoredMessage,
  channel: Channel,
  contracts: ContractsByType,
  codec: Codec,
): Promise<InspectedMessage> {
  const record = recordOf(stored);
  if (stored.edit) {
    const { messageId, document } = stored.edit;
    const told = await inspect({ ...record, value: null }, channel, contracts, plain, 0);
    const inspected = await inspect(
      {
        ...record,
        value: Buffer.from(JSON.stringify(document)),
        headers: {
          ...record.headers,
          ce_id: messageId,
          ce_causationid: told.inboxId,
        },
      },
      channel,
      contracts,
      plain,
      0,
    );
    return { stored, inspected, told, messageId, refusal: refusalOf(inspected) };
  }
  const inspected = await inspect(record, channel, contracts, codec, Date.now());
  // Its id is another message's, as when it came: nothing but an edit, which has an id of its own, heals that.
  const refusal = inspected.inboxId === stored.inboxId ? refusalOf(inspected) : REUSED;
  return { stored, inspected, told: inspected, messageId: stored.inboxId, refusal };
}

const refusalOf = ({ content }: InspectedRecord): Refusal | undefined =>
  'refusal' in content ? content.refusal : undefined;
