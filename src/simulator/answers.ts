import {
  type CancellationCode,
  orderCancellationResponse,
  type OrderRequest,
  orderResponse,
  type OrderResponse,
  type ResponseCode,
  topicFor,
} from '../contracts';
import type { Codec } from '../messaging/registry';
import type { Behaviour, Wish } from './behaviour';
import { despatches } from './despatches';
import type { Cancellation, Request } from './inbound';
import { answerId, headersOf, makeMessage, type Message, type Occasion } from './message';

export interface Pace {
  delayMs: number;
  /** How much later than the acknowledgement a `slow` partner accepts, and than its goods one that plays `ship-early`. */
  slowMs: number;
  /** From the acceptance to the first despatch, and from one despatch to the next. */
  shipMs: number;
}

/** Neither text nor JSON nor a frame of the wire format: invalid UTF-8 from its first byte. */
const GARBAGE = Buffer.from('ff00fe8081c0', 'hex');

/** Everything that the partner writes for an order, in order. */
export async function answersTo(
  request: Request,
  behaviour: Behaviour,
  pace: Pace,
  codec: Codec,
): Promise<readonly Message[]> {
  const at = pace.delayMs;
  const answer = (code: ResponseCode, afterMs = at) => respond(request, code, afterMs, codec);
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
    case 'ship':
    case 'over-ship':
    case 'misprint':
      return [await answer('AP'), ...(await despatches(request, behaviour, pace, codec))];
    case 'ship-early':
      return [...(await despatches(request, behaviour, pace, codec)), await answer('AP', at + pace.slowMs)];
  }
}

function respond(request: Request, code: ResponseCode, afterMs: number, codec: Codec): Promise<Message> {
  const occasion = { ...occasionOf(request, afterMs), id: answerId(request.id, code), code };
  return makeMessage(orderResponse, responseTo(request.document, code), occasion, codec);
}

function responseTo(request: OrderRequest, responseCode: ResponseCode): OrderResponse {
  const { orderNumber, issuedAt } = request;
  if (responseCode === 'RE') return { orderNumber, responseCode, issuedAt, reason: 'Not available.' };
  if (responseCode !== 'CA') return { orderNumber, responseCode, issuedAt };
  const [line] = request.lines;
  const lines = line ? [{ lineNumber: line.lineNumber, quantity: '1', unitPrice: line.unitPrice }] : [];
  return { orderNumber, responseCode, issuedAt, reason: 'Only one of the first line is left.', lines };
}

/** The partner's word on a cancellation. */
export function answerToCancellation(
  cancellation: Cancellation,
  decision: Wish,
  why: string | undefined,
  { delayMs }: Pace,
  codec: Codec,
): Promise<Message> {
  const { orderNumber, issuedAt } = cancellation.document;
  const responseCode: CancellationCode = decision === 'agree' ? 'AP' : 'RE';
  const document = { orderNumber, responseCode, issuedAt, ...(why === undefined ? {} : { reason: why }) };
  const code = `cancellation-${responseCode}` as const;
  const occasion = { ...occasionOf(cancellation, delayMs), id: answerId(cancellation.id, code), code };
  return makeMessage(orderCancellationResponse, document, occasion, codec);
}

/** Without a key: what carries none holds up no order. */
function garbage(request: Request, afterMs: number): Message {
  const occasion = { ...occasionOf(request, afterMs), id: answerId(request.id, 'garbage') };
  const topic = topicFor(orderResponse, request.party.id);
  const headers = headersOf(orderResponse, occasion);
  return { topic, afterMs, code: 'garbage', id: occasion.id, key: null, headers, value: GARBAGE };
}

function occasionOf({ party, document, id, correlationId }: Request | Cancellation, afterMs: number): Occasion {
  const { orderNumber, issuedAt: time } = document;
  return { party, orderNumber, time, causationId: id, correlationId, afterMs };
}
