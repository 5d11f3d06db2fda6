import { createHash } from 'node:crypto';
import {
  type OrderRequest,
  orderResponse,
  type OrderResponse,
  type ResponseCode,
  toHeaders,
  topicFor,
  typeOf,
} from '../contracts';
import type { Codec } from '../messaging/registry';
import type { Behaviour } from './behaviour';
import type { Request } from './request';

export interface Answer {
  topic: string;
  /** ms after the request was read. */
  afterMs: number;
  /** What it is, for the journal. */
  code: ResponseCode | 'garbage';
  id: string | null;
  key: string | null;
  headers: Record<string, string>;
  value: Buffer;
}

export interface Pace {
  delayMs: number;
  /** How much later than the acknowledgement a `slow` partner accepts. */
  slowMs: number;
}

/** Namespace of our name-based ids (RFC 9562, version 5). */
const NAMESPACE = Buffer.from('b6a1c3c0c1f24d5e9d0e7a5b1f0c2d34', 'hex');
const TYPE = typeOf(orderResponse);
/** Neither text nor JSON: invalid UTF-8 from its first byte. */
const GARBAGE = Buffer.from('ff00fe8081c0', 'hex');

/**
 * The same request gets the same message id, also from a partner that was restarted and reads it again: then its second
 * answer is a repeat, which the receiver recognizes.
 */
export function answerId(requestId: string, code: string): string {
  const hash = createHash('sha1').update(NAMESPACE).update(`${requestId}/${code}`).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Everything that the partner writes for a request, in order. */
export async function answersTo(
  request: Request,
  behaviour: Behaviour,
  pace: Pace,
  codec: Codec,
): Promise<readonly Answer[]> {
  const at = pace.delayMs;
  const answer = (code: ResponseCode, afterMs = at) => makeAnswer(request, code, afterMs, codec);
  switch (behaviour) {
    case 'silent':
      return [];
    case 'accept':
      return [await answer('AP')];
    case 'reject':
      return [await answer('RE')];
    case 'change':
      return [await answer('CA')];
    case 'slow':
      return [await answer('AB'), await answer('AP', at + pace.slowMs)];
    case 'duplicate': {
      const accepted = await answer('AP');
      return [accepted, accepted];
    }
    case 'garbage':
      return [garbage(request, at), await answer('AP')];
  }
}

async function makeAnswer(request: Request, code: ResponseCode, afterMs: number, codec: Codec): Promise<Answer> {
  const { partner, document } = request;
  const topic = topicFor(orderResponse, partner);
  const encoded = await codec.encode(orderResponse, { topic, format: 'json' }, responseTo(document, code));
  const id = answerId(request.id, code);
  return {
    topic,
    afterMs,
    code,
    id,
    key: document.orderNumber,
    headers: toHeaders({
      id,
      source: `/partners/${partner}`,
      type: TYPE,
      time: document.issuedAt,
      subject: document.orderNumber,
      contentType: encoded.contentType,
      dataSchema: encoded.dataSchema,
      correlationId: request.correlationId,
      causationId: request.id,
    }),
    value: encoded.payload,
  };
}

/** Every byte follows from the request: the same id with other bytes would be a reused id. */
function responseTo(request: OrderRequest, responseCode: ResponseCode): OrderResponse {
  const { orderNumber, issuedAt } = request;
  if (responseCode === 'RE') return { orderNumber, responseCode, issuedAt, reason: 'Not available.' };
  if (responseCode !== 'CA') return { orderNumber, responseCode, issuedAt };
  const [line] = request.lines;
  const lines = line ? [{ lineNumber: line.lineNumber, quantity: '1', unitPrice: line.unitPrice }] : [];
  return { orderNumber, responseCode, issuedAt, reason: 'Only one of the first line is left.', lines };
}

/** Without a key: what carries none holds up no order. */
function garbage(request: Request, afterMs: number): Answer {
  const topic = topicFor(orderResponse, request.partner);
  return { topic, afterMs, code: 'garbage', id: null, key: null, headers: {}, value: GARBAGE };
}
