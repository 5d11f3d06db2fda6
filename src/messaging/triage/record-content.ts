import { isUtf8 } from 'node:buffer';
import type { LetterContent } from './dead-letter-list';
import type { ReadDocument } from './document-reader';
import { valueAt } from '../../platform/json';

/** Bytes as people can look at them. */
export interface ShownBytes {
  /** Null where they are no printable text, or hidden. */
  text: string | null;
  /** Null where they are hidden. */
  base64: string | null;
  /** How many there are. */
  length: number;
  /** Only the first are shown. */
  truncated: boolean;
}

/** What a record holds: all of it, or masked. */
export interface RecordContent {
  document: unknown;
  /** Why it can't be read, or is not a valid one. */
  trouble: { code: string; detail: string } | null;
  /** What the pointer leads to, where that is short. */
  value: unknown;
  key: ShownBytes | null;
  raw: ShownBytes | null;
  headers: ({ name: string } & Omit<ShownBytes, 'length'>)[];
  /** What is hidden: JSON Pointers into the document, `raw`, and `header <name>`. */
  hidden: string[];
}

const MOST_VALUE = 65_536;
const MOST_HEADER = 4_096;
const MOST_HEADERS = 200;
/** Longest value that is shown beside its pointer. */
const SHORT = 200;

// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

function shown(bytes: Buffer, most: number): ShownBytes {
  const part = bytes.subarray(0, most);
  const text = isUtf8(part) ? part.toString('utf8') : null;
  return {
    text: text === null || CONTROL.test(text) ? null : text,
    base64: part.toString('base64'),
    length: bytes.length,
    truncated: bytes.length > most,
  };
}

export function contentOf(record: LetterContent, { document, trouble }: ReadDocument): RecordContent {
  const value = record.pointer === null || document === undefined ? undefined : valueAt(document, record.pointer);
  const isShort = value !== undefined && (JSON.stringify(value)?.length ?? Infinity) <= SHORT;
  return {
    document: document ?? null,
    trouble: trouble ? { code: trouble.code, detail: trouble.detail } : null,
    value: isShort ? value : null,
    key: record.rawKey && shown(record.rawKey, MOST_HEADER),
    raw: record.rawValue && shown(record.rawValue, MOST_VALUE),
    headers: record.headerNames.slice(0, MOST_HEADERS).map((name, n) => {
      const { text, base64, truncated } = shown(record.headerValues[n] ?? Buffer.alloc(0), MOST_HEADER);
      return { name: name.toString('utf8').toWellFormed(), text, base64, truncated };
    }),
    hidden: [],
  };
}
