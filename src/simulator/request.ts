import { fromHeaders, type OrderRequest, orderRequest } from '../contracts';
import type { Codec } from '../messaging/registry';

/** A request as the partner understood it. */
export interface Request {
  partner: string;
  /** `ce_id` */
  id: string;
  correlationId: string | undefined;
  document: OrderRequest;
}

export interface RequestRecord {
  topic: string;
  headers: ReadonlyMap<Buffer, Buffer>;
  /** null or undefined: a tombstone. */
  value: Buffer | null | undefined;
}

/** The request in a record of the partner's topic, or why it is none. */
export async function readRequest(
  record: RequestRecord,
  partner: string,
  codec: Codec,
): Promise<Request | { why: string }> {
  const headers = Object.fromEntries([...record.headers].map(([name, value]) => [String(name), value]));
  const { id, correlationId } = fromHeaders(headers);
  if (!id) return { why: 'no ce_id' };
  if (!record.value) return { why: 'a tombstone' };
  const decoded = await codec.decode(
    orderRequest,
    { topic: record.topic, format: 'json' },
    { value: record.value, headers },
  );
  return decoded.ok
    ? { partner, id, correlationId, document: decoded.value as OrderRequest }
    : { why: decoded.error.detail };
}
