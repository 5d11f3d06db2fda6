import type { Contract } from '../../contracts';

/** What a business room wants to say to a partner. */
export interface Outgoing<T> {
  contract: Contract<T>;
  partner: string;
  value: T;
  /** Message id, given when the event is born: a retry of the transaction says the same. UUID. */
  id: string;
  time: Date;
  aggregateType: string;
  correlationId?: string;
  causationId?: string;
  traceparent?: string;
}

/** An outbox row before it has its number: encoded, validated, small enough, its partition computed. */
export interface PreparedMessage {
  id: string;
  aggregateType: string;
  /** Record key. */
  aggregateId: string;
  type: string;
  topic: string;
  partition: number;
  correlationId: string | null;
  causationId: string | null;
  traceparent: string | null;
  dataSchema: string | null;
  contentType: string;
  time: Date;
  payload: Buffer | null;
}
