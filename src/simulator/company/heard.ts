import { createHash } from 'node:crypto';
import {
  type AnyContract,
  type DespatchAdvice,
  despatchAdvice,
  type Envelope,
  fromHeaders,
  type OrderCancellationResponse,
  orderCancellationResponse,
  type OrderResponse,
  orderResponse,
  topicFor,
  typeOf,
} from '../../contracts';
import type { Codec } from '../../messaging/registry';
import type { Party } from '../message';
import type { Fault } from './faults';
import type { ReadRecord } from './topic-reader';

/** Documents that a partner writes. */
export const ANSWERS: readonly AnyContract[] = [orderResponse, orderCancellationResponse, despatchAdvice];
const BY_TYPE = new Map(ANSWERS.map((contract) => [typeOf(contract), contract]));

export type Said =
  | { kind: 'order-response'; document: OrderResponse }
  | { kind: 'order-cancellation-response'; document: OrderCancellationResponse }
  | { kind: 'despatch-advice'; document: DespatchAdvice };

/** A record of the partner's and what it says, or why that can't be known. */
export interface Heard {
  topic: string;
  partition: number;
  offset: string;
  /** null: none, or no text. */
  key: string | null;
  envelope: Partial<Envelope>;
  /** Of key and value: the same message again has the same. */
  hash: string;
  /** When it was read, ms since the epoch. */
  at: number;
  said: Said | Fault;
}

export const isFault = (said: Said | Fault): said is Fault => 'code' in said;

/** Rejects only when the registry can't be asked. */
export async function hear(record: ReadRecord, party: Party, codec: Codec, at: number): Promise<Heard> {
  const { topic, partition, offset, key, value, headers } = record;
  const envelope = fromHeaders(headers);
  const hash = createHash('sha256')
    .update(key ?? '')
    .update('\n')
    .update(value ?? '')
    .digest('hex');
  const text = key?.toString('utf8');
  return {
    ...{ topic, partition, offset: String(offset), envelope, hash, at },
    key: text !== undefined && Buffer.from(text).equals(key ?? Buffer.alloc(0)) ? text : null,
    said: await said(record, envelope, party, codec),
  };
}

async function said(
  { topic, key, value, headers }: ReadRecord,
  { id, type }: Partial<Envelope>,
  party: Party,
  codec: Codec,
): Promise<Said | Fault> {
  if (!value) return { code: 'tombstone-unsupported', detail: 'no value' };
  const contract = BY_TYPE.get(type ?? '');
  if (!contract) return { code: 'contract-unknown', detail: type ? `ce_type is ${type}` : 'no ce_type' };
  const expected = topicFor(contract, party.id);
  if (expected !== topic) return { code: 'contract-misplaced', detail: `${contract.name} belongs on ${expected}` };
  if (!id) return { code: 'message-id-missing', detail: 'no ce_id' };
  const decoded = await codec.decode(contract, { topic, format: party.format }, { value, headers, seenAt: Date.now() });
  if (!decoded.ok) return decoded.error;
  const document = decoded.value as Said['document'];
  if (key && !key.equals(Buffer.from(document.orderNumber))) {
    const detail = `the key is not the order number ${document.orderNumber}`;
    return { code: 'key-mismatch', detail, pointer: '/orderNumber' };
  }
  // The contract's rules were checked: the document has the type that belongs to its name.
  return { kind: contract.name, document } as Said;
}
