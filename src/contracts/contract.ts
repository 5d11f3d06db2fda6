/** JSON Schema (2020-12 subset that ajv checks). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Seen from us: `out` is written by Parley, `in` by the partner. */
export type Direction = 'out' | 'in';

/**
 * What two companies agreed on about one document. The only place that states its name, its topic and its rules;
 * everything else (outbox, consumer, dead letters) works from this.
 */
export interface Contract<T = unknown> {
  /** `order-request`; with the version it is the CloudEvents type, see {@link typeOf}. */
  name: string;
  version: number;
  direction: Direction;
  /** `{partner}` is replaced by the partner's id. Several documents of one key may share a topic. */
  topic: string;
  /** Member of the document that equals the record key. */
  key: keyof T & string;
  /** For a request: how long the other side has to answer, in ms. */
  deadlineMs?: number;
  /** What happens to later messages of a key when one waits: `hold` where the document carries state. */
  laterMessages: 'hold' | 'continue';
  jsonSchema: JsonSchema;
}

/** The value of `ce_type` and the pattern of its handler: `parley.order-request.v1`. */
export function typeOf(contract: Contract<never> | Contract): string {
  return `parley.${contract.name}.v${contract.version}`;
}

export function topicFor(contract: Contract<never> | Contract, partner: string): string {
  return contract.topic.replace('{partner}', partner);
}
