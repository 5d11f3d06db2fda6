import {
  type AnyContract,
  type DespatchReceipt,
  despatchReceipt,
  type ErrorReport,
  errorReport,
  type OrderCancellation,
  orderCancellation,
  type OrderRequest,
  orderRequest,
  toHeaders,
  topicFor,
  typeOf,
} from '../../contracts';
import type { Codec } from '../../messaging/registry';
import type { Party } from '../message';
import type { Fault } from './faults';
import { FAULTS } from './faults';
import type { Heard } from './heard';
import type { Written } from './record-writer';

/** Documents that a company writes. */
export const ASKED: readonly AnyContract[] = [orderRequest, orderCancellation, despatchReceipt, errorReport];

/** What a message says of itself beside its document. */
export interface Occasion {
  id: string;
  /** RFC 3339 */
  time: string;
  correlationId: string | undefined;
  causationId?: string | undefined;
}

type Asked = OrderRequest | OrderCancellation | DespatchReceipt | ErrorReport;

/** A document as the company writes it. Rejects as the codec does. */
export async function recordOf(
  contract: AnyContract,
  document: Asked,
  { id, time, correlationId, causationId }: Occasion,
  { party, codec }: { party: Party; codec: Codec },
): Promise<Written> {
  const topic = topicFor(contract, party.id);
  const { payload, contentType, dataSchema } = await codec.encode(contract, { topic, format: party.format }, document);
  const key = String((document as unknown as Record<string, unknown>)[contract.key]);
  const envelope = { id, source: '/simulator/company', type: typeOf(contract), time, subject: key };
  const headers = toHeaders({ ...envelope, contentType, dataSchema, correlationId, causationId });
  return { topic, key, value: payload, headers };
}

/** An order of `pieces` of each article. */
export function orderDocument(
  orderNumber: string,
  articles: readonly string[],
  pieces: string,
  now: Date,
): OrderRequest {
  return {
    orderNumber,
    issuedAt: now.toISOString(),
    currency: 'EUR',
    lines: articles.map((item, index) => ({
      ...{ lineNumber: index + 1, item, quantity: pieces, unit: 'C62', unitPrice: '9.90' },
    })),
  };
}

const MOST_OF_A_SUBJECT = 255;
const MOST_OF_A_DETAIL = 2000;

/** What the partner is told of a record that could not be read or accepted. */
export function reportOf({ key, topic, partition, offset, envelope }: Heard, fault: Fault, now: Date): ErrorReport {
  const place = `${topic}/${partition}/${offset}`;
  const told = (text: string | undefined) => (text !== undefined && /^[^\p{C}]{1,255}$/u.test(text) ? text : undefined);
  const { code, detail, pointer } = fault;
  const optional = {
    pointer,
    messageId: told(envelope.id),
    messageType: told(envelope.type),
    correlationId: told(envelope.correlationId),
  };
  return {
    subject: key !== null && key !== '' && key.length <= MOST_OF_A_SUBJECT ? key : place,
    type: `/docs/problems/${code}`,
    title: FAULTS[code].title,
    ...{ code, detail: detail.slice(0, MOST_OF_A_DETAIL), topic, partition, offset, reportedAt: now.toISOString() },
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}
