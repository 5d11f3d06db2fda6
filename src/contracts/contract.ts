/** JSON Schema (2020-12 subset that ajv checks). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Seen from us: `out` is written by Parley, `in` by the partner. */
export type Direction = 'out' | 'in';

/** Formats that name their schema by an id of a schema registry, in Confluent's wire format. */
export const REGISTERED_FORMATS = ['avro', 'protobuf', 'json-schema'] as const;
export type RegisteredFormat = (typeof REGISTERED_FORMATS)[number];

/** How a document becomes bytes. `json` is JSON text and nothing else: no registry, for partners without a client of one. */
export const FORMATS = [...REGISTERED_FORMATS, 'json'] as const;
export type Format = (typeof FORMATS)[number];

/** How a partner's message that fails is tried again: exponential backoff with full jitter. What ends first ends it. */
export interface RetryPolicy {
  /** Upper end of the first pause, ms; it doubles. */
  initialMs: number;
  /** Upper end of every pause, ms. */
  maxMs: number;
  /** After so many attempts it is a dead letter. */
  attempts: number;
  /** So long after its first failure it is a dead letter, ms; the time in which it was due and not tried does not count. */
  maxAgeMs: number;
}

/** What holds where a contract says nothing else. */
export const DEFAULT_RETRY: RetryPolicy = {
  initialMs: 5_000,
  maxMs: 15 * 60_000,
  attempts: 12,
  maxAgeMs: 24 * 60 * 60_000,
};

/** How often a request is sent again, under the same message id, before the answer is called overdue. */
export interface ResendPolicy {
  times: number;
  /** The new deadline after each, ms from then. */
  everyMs: number;
}

/**
 * What two companies agreed on about one document. The only place that states its name, its topic and its rules;
 * everything else (outbox, consumer, dead letters, registry, partner's documentation) works from this.
 *
 * Beside `<name>.v<version>.ts` stand `.avsc`, `.proto` and `.schema.json`. The JSON Schema also states the rules that a
 * document keeps in every format (patterns, lengths). So that a value is the same in all of them: what may be missing is
 * `["null", …]` in Avro and `optional` in Protobuf; 64-bit integers are decimal text here; lists are never empty, since
 * Protobuf can't tell an empty list from a missing one; code lists are text, since Avro can't carry an unknown enum value.
 */
export interface AnyContract {
  /** `order-request`; with the version it is the CloudEvents type, see {@link typeOf}. */
  name: string;
  version: number;
  /** What the document says, one sentence for people. */
  summary: string;
  direction: Direction;
  /** `{partner}` is replaced by the partner's id; without it the document is one of our own systems. Several documents of one key may share a topic. */
  topic: string;
  /** Member of the document that equals the record key. */
  key: string;
  /** Name of the contract that this one answers. */
  answers?: string;
  /** For a request: how long the other side has to answer, in ms. */
  deadlineMs?: number;
  /** For a request: what is done when that time is over. Absent: nothing is sent again. */
  resend?: ResendPolicy;
  /** For a request that may have an interim answer: how long the final one may take after it, in ms. */
  interimDeadlineMs?: number;
  /** For what a partner sends. Absent: {@link DEFAULT_RETRY}. */
  retry?: RetryPolicy;
  /** What happens to later messages of a key when one waits: `hold` where the document carries state. */
  laterMessages: 'hold' | 'continue';
  /** Documents of which this member has one of these values carry a secret of somebody: it is shown to nobody, staff included. */
  secretWhen?: { member: string; values: readonly string[] };
  /** Where the document has this format whatever the partner's channels speak. */
  format?: Format;
  jsonSchema: JsonSchema;
  /** Whole, valid documents, for documentation and tests. */
  examples: readonly [unknown, ...unknown[]];
}

/** The same, with the document's type: a catalogue holds many, a handler or a sender one. */
export interface Contract<T> extends AnyContract {
  key: keyof T & string;
  examples: readonly [T, ...T[]];
}

/** The value of `ce_type` and the pattern of its handler: `parley.order-request.v1`. */
export function typeOf(contract: AnyContract): string {
  return `parley.${contract.name}.v${contract.version}`;
}

export function topicFor(contract: AnyContract, partner: string): string {
  return contract.topic.replace('{partner}', partner);
}

/** The document's format where it has one of its own, else the one that the partner's channels speak. */
export function formatOf(contract: AnyContract, spoken: Format): Format {
  return contract.format ?? spoken;
}

/** Full name of the document's record in all schema languages: `parley.v1.OrderRequest`. */
export function recordNameOf(contract: AnyContract): string {
  const name = contract.name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `parley.v${contract.version}.${name}`;
}

/** Subject of the document's schema on this topic (TopicRecordNameStrategy: a topic carries several documents of a key). */
export function subjectFor(contract: AnyContract, topic: string): string {
  return `${topic}-${recordNameOf(contract)}`;
}

const EXTENSIONS: Readonly<Record<RegisteredFormat, string>> = {
  avro: 'avsc',
  protobuf: 'proto',
  'json-schema': 'schema.json',
};

/** Path of the schema's text, which stands beside the contract. */
export function schemaFileOf(contract: AnyContract, format: RegisteredFormat): string {
  return `${__dirname}/${contract.name}.v${contract.version}.${EXTENSIONS[format]}`;
}
