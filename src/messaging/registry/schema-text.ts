import { NonRetriableError } from '../../platform/errors';
import type { SchemaText } from './schema-registry';

/** Bytes of one schema's text. Confluent's registry keeps it in one Kafka record, 1 MB by default. */
export const MAX_SCHEMA_BYTES = 1024 * 1024;
/** Nested brackets of a schema's text; its parsers and compilers are recursive. */
const MAX_SCHEMA_DEPTH = 64;

/** The registry answers, but what it holds is nothing that we work with. Not an outage: asking again changes nothing. */
export class SchemaRefused extends NonRetriableError {
  constructor(message: string) {
    super('schema-refused', message);
  }
}

/** Throws {@link SchemaRefused} for a text that no parser may see: whoever may register schemas wrote it. `name` names it in the message. */
export function checkSchemaText({ format, text }: Pick<SchemaText, 'format' | 'text'>, name: string): void {
  const size = Buffer.byteLength(text);
  if (size > MAX_SCHEMA_BYTES) throw new SchemaRefused(`${name} has ${size} bytes; ${MAX_SCHEMA_BYTES} are read.`);
  if (nestsDeeper(text, format === 'protobuf')) {
    throw new SchemaRefused(`${name} is nested deeper than ${MAX_SCHEMA_DEPTH} levels.`);
  }
}

const [QUOTE, APOSTROPHE, BACKSLASH, SLASH] = Array.from(`"'\\/`, (sign) => sign.charCodeAt(0));
const OPENING = new Set(Array.from('{[(<', (sign) => sign.charCodeAt(0)));
const CLOSING = new Set(Array.from('}])>', (sign) => sign.charCodeAt(0)));

/** One pass without recursion. Brackets in strings don't count, nor those in the comments that a `.proto` may have. */
function nestsDeeper(text: string, proto: boolean): boolean {
  let depth = 0;
  let quote: number | undefined;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (quote !== undefined) {
      if (sign === BACKSLASH) at++;
      else if (sign === quote) quote = undefined;
    } else if (sign === QUOTE || (proto && sign === APOSTROPHE)) quote = sign;
    else if (proto && sign === SLASH) at = endOfComment(text, at);
    else if (OPENING.has(sign)) {
      if (++depth > MAX_SCHEMA_DEPTH) return true;
    } else if (CLOSING.has(sign)) depth--;
  }
  return false;
}

function endOfComment(text: string, at: number): number {
  const mark = text[at + 1];
  if (mark !== '/' && mark !== '*') return at;
  const end = text.indexOf(mark === '/' ? '\n' : '*/', at + 2);
  return end < 0 ? text.length : end + (mark === '/' ? 0 : 1);
}
