import { type AnyContract, contractsFor, type Envelope, fromHeaders, topicFor } from '../../contracts';
import type { Channel } from '../channels';
import { type InboundRecord, REFUSED_BATCH } from '../kafka';
import type { Codec } from '../registry';
import { infrastructureOf, outcomeOf } from './failure';
import type { Outcome } from './handler';
import { inboxKey } from './inbox';
import { contentHash, keyTextOf, placeOf, sequenceOf } from './record-identity';
import { isIdText } from './text';

/** Why a record is not applied; `failedIn` where that doesn't follow from who says it. */
export type Refusal = Outcome & { kind: 'retry' | 'dead'; failedIn?: 'process' };

export const REUSED: Refusal = {
  kind: 'dead',
  code: 'message-id-reused',
  detail: 'An earlier record of this channel has the same id and other content.',
};

/** A record and all that can be said of it without the database. */
export interface InspectedRecord {
  record: InboundRecord;
  channel: Channel;
  envelope: Partial<Envelope>;
  /** The text under which its key is parked; null is never held. */
  key: string | null;
  /** {@link sequenceOf} of it: what it keeps its order in. */
  sequence: string | null;
  /** What makes it unique within its channel: `ce_id`, or its place where that can't. */
  inboxId: string;
  /** {@link inboxKey} of it. */
  identity: string;
  /** See {@link contentHash}. */
  hash: string;
  contract: AnyContract | undefined;
  /** `schemaId` and `broken`: as `Decoded` has them. */
  content: ({ value: unknown } | { refusal: Refusal; broken?: unknown }) & { schemaId?: number | undefined };
}

/** Documents that may come in, by their CloudEvents type. */
export type ContractsByType = ReadonlyMap<string, AnyContract>;

/**
 * Bytes that a document may have when it is unpacked, or as many as its topic takes packed. Packed, a topic's megabyte holds a hundred of
 * them, and to read those would hold the process for half a minute, or take its memory.
 */
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

/** Attributes that reach text columns and indexes; a header that is none of these may hold anything. */
const CHECKED = ['id', 'type', 'correlationId', 'causationId', 'time'] as const;

const BATCH_TOO_LARGE =
  'A batch of records is too large to be unpacked. The value is the whole batch, packed as it came.';

const dead = (code: string, detail: string, pointer?: string): { refusal: Refusal } => ({
  refusal: { kind: 'dead', code, detail, ...(pointer === undefined ? {} : { pointer }) },
});

/**
 * Turns a record into something with a name, whatever its bytes are. Rejects only with what is the registry's trouble.
 * @param seenAt when the record was fetched, ms since the epoch: a schema that was published since is not called unknown
 */
export async function inspect(
  record: InboundRecord,
  channel: Channel,
  contracts: ContractsByType,
  codec: Codec,
  seenAt: number,
): Promise<InspectedRecord> {
  const envelope = fromHeaders(record.headers);
  const contract = contracts.get(envelope.type ?? '');
  const inboxId = envelope.id !== undefined && isIdText(envelope.id) ? envelope.id : placeOf(record);
  const key = keyTextOf(record.key);
  return {
    record,
    channel,
    envelope,
    key,
    sequence: key === null ? null : sequenceOf({ channelId: channel.id, key }),
    inboxId,
    identity: inboxKey(channel.id, inboxId),
    hash: contentHash(record),
    contract,
    content:
      refuse(record, channel, envelope, contract) ??
      (await decode(record, channel, contract as AnyContract, codec, seenAt)),
  };
}

/** Everything that can be wrong around the document, the most telling first. */
function refuse(
  record: InboundRecord,
  channel: Channel,
  envelope: Partial<Envelope>,
  contract: AnyContract | undefined,
): { refusal: Refusal } | undefined {
  // Without the header's words: a partner may have set it, too.
  if (record.headers[REFUSED_BATCH] !== undefined) return dead('batch-too-large', BATCH_TOO_LARGE);
  const unfit = CHECKED.find((name) => envelope[name] !== undefined && !isIdText(envelope[name]));
  if (unfit) return dead('envelope-invalid', `The attribute ${unfit} is too long or has control characters.`);
  if (record.value === null)
    return dead('tombstone-unsupported', 'The record has no value, and no contract allows that.');
  const most = Math.max(MAX_DOCUMENT_BYTES, channel.maxMessageBytes);
  if (record.value.length > most) return dead('document-too-large', `The document has more than ${most} bytes.`);
  // Of what our own systems tell each other no partner is to know, nor may it pass as one of them; so the other way round.
  if (!contract || contractsFor([contract], channel.partner).length === 0) {
    return dead('contract-unknown', envelope.type ? 'No such document is known here.' : 'The record names no ce_type.');
  }
  if (contract.direction !== 'in') return dead('contract-misplaced', `We write ${contract.name}; partners don't.`);
  if (topicFor(contract, channel.partner) !== record.topic) {
    return dead('contract-misplaced', `${contract.name} belongs on ${topicFor(contract, channel.partner)}.`);
  }
  if (envelope.id === undefined && !channel.allowMissingId) {
    return dead('message-id-missing', 'The record has no ce_id, and this channel requires one.');
  }
  return undefined;
}

async function decode(
  record: InboundRecord,
  channel: Channel,
  contract: AnyContract,
  codec: Codec,
  seenAt: number,
): Promise<InspectedRecord['content']> {
  try {
    const decoded = await codec.decode(contract, channel, {
      value: record.value ?? Buffer.alloc(0),
      headers: record.headers,
      seenAt,
    });
    const { schemaId } = decoded;
    if (!decoded.ok) {
      const { error, broken } = decoded;
      return { ...dead(error.code, error.detail, error.pointer), broken, schemaId };
    }
    // A null key is not compared: such a record asks for no order.
    const member = contract.key;
    const named = (decoded.value as Record<string, unknown>)[member];
    return record.key === null || record.key.equals(Buffer.from(String(named)))
      ? { value: decoded.value, schemaId }
      : {
          ...dead('key-mismatch', `The record's key is not the document's ${member}.`, `/${member}`),
          broken: decoded.value,
          schemaId,
        };
  } catch (error) {
    if (infrastructureOf(error) === 'registry') throw error;
    // A codec that throws is our defect: the record waits for a mended one, the rest of the batch goes on.
    return { refusal: outcomeOf(error) };
  }
}
