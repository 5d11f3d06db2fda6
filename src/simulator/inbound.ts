import {
  type AnyContract,
  type DespatchReceipt,
  despatchReceipt,
  type ErrorReport,
  errorReport,
  fromHeaders,
  type OrderCancellation,
  orderCancellation,
  type OrderRequest,
  orderRequest,
  typeOf,
} from '../contracts';
import type { Codec } from '../messaging/registry';
import type { Party } from './message';

interface Read<K extends string, T> {
  kind: K;
  party: Party;
  /** `ce_id` */
  id: string;
  correlationId: string | undefined;
  document: T;
}

export type Request = Read<'order-request', OrderRequest>;
export type Cancellation = Read<'order-cancellation', OrderCancellation>;
export type Receipt = Read<'despatch-receipt', DespatchReceipt>;
export type Report = Read<'error-report', ErrorReport>;

/** What a partner is sent, as it understood it. */
export type Inbound = Request | Cancellation | Receipt | Report;

/** Documents that a partner reads. */
const HEARD: readonly AnyContract[] = [orderRequest, orderCancellation, despatchReceipt, errorReport];
const BY_TYPE = new Map(HEARD.map((contract) => [typeOf(contract), contract]));

export interface InboundRecord {
  topic: string;
  headers: ReadonlyMap<Buffer, Buffer>;
  /** null or undefined: a tombstone. */
  value: Buffer | null | undefined;
}

/** The document in a record of the partner's topics, or why it is none. Rejects only when the registry can't be asked. */
export async function readInbound(
  { topic, headers: raw, value }: InboundRecord,
  party: Party,
  codec: Codec,
): Promise<Inbound | { why: string }> {
  const headers = Object.fromEntries([...raw].map(([name, content]) => [String(name), content]));
  const { id, type, correlationId } = fromHeaders(headers);
  if (!id) return { why: 'no ce_id' };
  if (!value) return { why: 'a tombstone' };
  const contract = BY_TYPE.get(type ?? '');
  if (!contract) return { why: type ? `${type} is no document for a partner` : 'no ce_type' };
  const decoded = await codec.decode(contract, { topic, format: party.format }, { value, headers });
  if (!decoded.ok) return { why: decoded.error.detail };
  // The contract's rules were checked: the document has the type that belongs to its name.
  return { kind: contract.name, party, id, correlationId, document: decoded.value } as Inbound;
}
