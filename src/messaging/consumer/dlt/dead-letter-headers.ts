import type { HeaderValue } from '../../kafka';

/** What of a dead letter its headers on the dead letter topic are made from. */
export interface DeadLetterFacts {
  topic: string;
  partition: number;
  /** Decimal text. */
  offset: string;
  recordTime: Date;
  headerNames: readonly Buffer[];
  headerValues: readonly (Buffer | null)[];
  code: string;
  /** A sentence for people; null where there is none. */
  detail: string | null;
  attempts: number;
  firstFailedAt: Date | null;
  fingerprint: string | null;
}

export type RecordHeaders = Record<string, HeaderValue | readonly HeaderValue[]>;

/** Names that a dead letter topic's headers begin with: Spring's and our own. */
const OURS = /^(kafka_dlt-|parley-dlt-)/;

/**
 * The original headers as they came, then why the record is here: under Spring's names and in its encodings (spring-kafka,
 * KafkaHeaders and DeadLetterPublishingRecoverer: big-endian numbers, UTF-8 text), and readable for tools that show text. What an
 * earlier hop wrote under these names is replaced, where Spring would stack it: nothing grows from hop to hop.
 *
 * The order of names is kept except for those that are whole numbers, which the client puts first.
 */
export function deadLetterHeaders(letter: DeadLetterFacts, group: string): RecordHeaders {
  // Without a prototype: a header may be called anything, `__proto__` as well.
  const headers = Object.create(null) as RecordHeaders;
  letter.headerNames.forEach((bytes, index) => {
    const name = bytes.toString('utf8');
    if (OURS.test(name)) return;
    const value = letter.headerValues[index] ?? null;
    const known = headers[name];
    // Not a copy for each: a partner may send one name some hundred thousand times.
    if (Array.isArray(known)) known.push(value);
    else headers[name] = known === undefined ? value : [known as HeaderValue, value];
  });
  return Object.assign(headers, springHeaders(letter, group), readableHeaders(letter, headers['traceparent']));
}

function springHeaders(letter: DeadLetterFacts, group: string): RecordHeaders {
  return {
    'kafka_dlt-original-topic': letter.topic,
    'kafka_dlt-original-partition': int32(letter.partition),
    'kafka_dlt-original-offset': int64(BigInt(letter.offset)),
    'kafka_dlt-original-timestamp': int64(BigInt(letter.recordTime.getTime())),
    'kafka_dlt-original-consumer-group': group,
    // Spring puts the exception's class here; our failures have codes.
    'kafka_dlt-exception-fqcn': `parley.${letter.code}`,
    'kafka_dlt-exception-message': letter.detail ?? letter.code,
  };
}

function readableHeaders(letter: DeadLetterFacts, trace: RecordHeaders[string] | undefined): RecordHeaders {
  const { firstFailedAt, fingerprint } = letter;
  return {
    'parley-dlt-partition': String(letter.partition),
    'parley-dlt-offset': letter.offset,
    'parley-dlt-code': letter.code,
    'parley-dlt-attempts': String(letter.attempts),
    ...(firstFailedAt ? { 'parley-dlt-first-failed-at': firstFailedAt.toISOString() } : {}),
    ...(fingerprint === null ? {} : { 'parley-dlt-fingerprint': fingerprint }),
    ...(trace === undefined ? {} : { 'parley-dlt-trace': trace }),
  };
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
