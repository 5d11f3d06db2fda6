import type { Contract } from './contract';
import jsonSchema from './error-report.v1.schema.json';

/** What we could not read or accept from the partner, in the shape of a problem (RFC 9457): nothing of it took effect. */
export interface ErrorReport {
  /** The key of the record where it has one that is text, else its place; also the record key of the report. */
  subject: string;
  /** Page that explains the code, relative to our API. */
  type: string;
  title: string;
  /** Stable slug. */
  code: string;
  detail: string;
  /** RFC 6901 pointer into the document. */
  pointer?: string;
  topic: string;
  partition: number;
  /** Decimal text: 64 bits. */
  offset: string;
  /** The record's ce_id, ce_type and ce_correlationid, where they are fit to be told. */
  messageId?: string;
  messageType?: string;
  correlationId?: string;
  /** RFC 3339, UTC. */
  reportedAt: string;
}

/** Always plain JSON: who can't be understood may be misunderstood in its own format, too. */
export const errorReport: Contract<ErrorReport> = {
  name: 'error-report',
  version: 1,
  summary: 'What we could not read or accept from the partner, with its place in Kafka. Nothing of it took effect.',
  direction: 'out',
  topic: 'errors.{partner}.v1',
  key: 'subject',
  laterMessages: 'continue',
  format: 'json',
  jsonSchema,
  examples: [
    {
      subject: '4500017',
      type: '/docs/problems/invalid',
      title: 'The document breaks its contract',
      code: 'invalid',
      detail: 'must be 1 to 8 capital letters or digits; the list of codes may grow',
      pointer: '/responseCode',
      topic: 'orders.acme.response.v1',
      partition: 3,
      offset: '4711',
      messageId: '5d4f0b5e-2a3a-4f0e-8a39-1d4d2f0f6a11',
      messageType: 'parley.order-response.v1',
      correlationId: '0b2f7a44-7f0e-4b53-8a4f-0a6f5c1c9d10',
      reportedAt: '2026-02-03T04:06:01.000Z',
    },
  ],
};
