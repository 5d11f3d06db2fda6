/** What a message says about itself: CloudEvents 1.0 attributes in binary mode (cloudevents/spec, Kafka protocol binding). */
export interface Envelope {
  /** `ce_id`: the message id, unique within its channel. */
  id: string;
  /** `ce_source` */
  source: string;
  /** `ce_type`, see `typeOf(contract)`. */
  type: string;
  /** `ce_time`, RFC 3339 UTC. */
  time: string;
  /** `ce_subject`: the order number. */
  subject?: string | undefined;
  /** `ce_dataschema` */
  dataSchema?: string | undefined;
  /** `content-type`; there is no `ce_datacontenttype` in the binary mode. */
  contentType?: string | undefined;
  /** `ce_correlationid`: the exchange that this message belongs to. */
  correlationId?: string | undefined;
  /** `ce_causationid`: the `ce_id` that caused this message. */
  causationId?: string | undefined;
  /** W3C trace context of this hop. */
  traceparent?: string | undefined;
}

/** Record headers as the broker hands them out: a name may come several times. */
export type RawHeaders = Readonly<Record<string, Buffer | string | readonly (Buffer | string)[] | undefined>>;

const HEADERS = {
  id: 'ce_id',
  source: 'ce_source',
  type: 'ce_type',
  time: 'ce_time',
  subject: 'ce_subject',
  dataSchema: 'ce_dataschema',
  contentType: 'content-type',
  correlationId: 'ce_correlationid',
  causationId: 'ce_causationid',
  traceparent: 'traceparent',
} as const satisfies Record<keyof Envelope, string>;

/** Names of the headers that say these. */
export const ENVELOPE_HEADERS: readonly string[] = ['ce_specversion', ...Object.values(HEADERS)];

const ENTRIES = Object.entries(HEADERS) as [keyof Envelope, string][];

/** Attributes without a value are left out: a null header fails the send. */
export function toHeaders(envelope: Envelope): Record<string, string> {
  const headers: Record<string, string> = { ce_specversion: '1.0' };
  for (const [attribute, header] of ENTRIES) {
    const value = envelope[attribute];
    if (value !== undefined) headers[header] = value;
  }
  return headers;
}

/** The last value of a header wins, as Kafka's `lastHeader` does. */
function headerText(headers: RawHeaders, name: string): string | undefined {
  const value = headers[name];
  const last = Array.isArray(value)
    ? (value as readonly (Buffer | string)[]).at(-1)
    : (value as Buffer | string | undefined);
  return last?.toString('utf8');
}

/**
 * Reads what is there; a missing attribute is undefined and judged by the caller. Spring's `kafka_correlationId`
 * (text, or the bytes of a text) stands in for a missing `ce_correlationid`.
 */
export function fromHeaders(headers: RawHeaders): Partial<Envelope> {
  const envelope: Partial<Record<keyof Envelope, string>> = {};
  for (const [attribute, header] of ENTRIES) {
    const value = headerText(headers, header);
    if (value !== undefined && value !== '') envelope[attribute] = value;
  }
  const springs = headerText(headers, 'kafka_correlationId');
  if (springs !== undefined && springs !== '') envelope.correlationId ??= springs;
  return envelope;
}
