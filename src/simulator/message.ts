import { createHash } from 'node:crypto';
import {
  type AnyContract,
  type CancellationCode,
  type Contract,
  type Format,
  type ResponseCode,
  toHeaders,
  topicFor,
  typeOf,
} from '../contracts';
import type { Codec } from '../messaging/registry';

/** Whom the simulator plays, and what it speaks. */
export interface Party {
  id: string;
  format: Format;
}

/** What it is, for the journal. */
export type MessageCode = ResponseCode | `cancellation-${CancellationCode}` | 'despatch' | 'garbage';

/** A message of the partner's as it is written. */
export interface Message {
  topic: string;
  /** ms after the message that caused it was read. */
  afterMs: number;
  code: MessageCode;
  id: string;
  key: string | null;
  headers: Record<string, string>;
  value: Buffer;
  /** A despatch advice: its number. */
  despatchNumber?: string;
}

/** What a message says of itself beside its document. */
export interface Occasion {
  party: Party;
  orderNumber: string;
  /** Time of the document that caused it: every byte of an answer follows from what it answers. */
  time: string;
  /** `ce_id` of what caused it. */
  causationId: string;
  correlationId: string | undefined;
  afterMs: number;
}

/** Namespace of our name-based ids (RFC 9562, version 5). */
const NAMESPACE = Buffer.from('b6a1c3c0c1f24d5e9d0e7a5b1f0c2d34', 'hex');

/**
 * The same request gets the same message id, also from a partner that was restarted and reads it again: then its second
 * answer is a repeat, which the receiver recognizes.
 */
export function answerId(requestId: string, what: string): string {
  const hash = createHash('sha1').update(NAMESPACE).update(`${requestId}/${what}`).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** A document with its headers. Needs no network once the codec is ready for the contract. */
export async function makeMessage<T>(
  contract: Contract<T>,
  document: T,
  occasion: Occasion & { id: string; code: MessageCode },
  codec: Codec,
): Promise<Message> {
  const { party, orderNumber, id, code, afterMs } = occasion;
  const topic = topicFor(contract, party.id);
  const { payload, contentType, dataSchema } = await codec.encode(contract, { topic, format: party.format }, document);
  const headers = headersOf(contract, occasion, { contentType, dataSchema });
  return { topic, afterMs, code, id, key: orderNumber, headers, value: payload };
}

export function headersOf(
  contract: AnyContract,
  { id, party, time, orderNumber, correlationId, causationId }: Occasion & { id: string },
  encoding: { contentType?: string; dataSchema?: string | undefined } = {},
): Record<string, string> {
  const source = `/partners/${party.id}`;
  const type = typeOf(contract);
  return toHeaders({ id, source, type, time, subject: orderNumber, ...encoding, correlationId, causationId });
}
