import { isUtf8 } from 'node:buffer';
import { halfCharacter } from './document-rules';
import { Malformed } from './malformed';

/** An escape of half a surrogate pair, maybe: worth a closer look. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** The document in `bytes` from `from` on. Throws {@link Malformed}. */
export function parseJson(bytes: Buffer, from: number): unknown {
  const text = bytes.toString('utf8', from);
  if (text.includes('\ufffd') && !isUtf8(bytes.subarray(from))) throw new Malformed('it is not UTF-8');
  let value: unknown;
  try {
    // A byte order mark is not part of JSON (RFC 8259, 8.1 lets readers ignore it).
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw new Malformed(notJson(bytes[from], (error as Error).message));
  }
  if (SURROGATE_ESCAPE.test(text)) {
    const half = halfCharacter(value, '');
    if (half) throw new Malformed(`${half.pointer} ${half.detail}`);
  }
  return value;
}

function notJson(first: number | undefined, reason: string): string {
  // V8 quotes the text around the fault; a partner may be told where, not what others wrote there.
  const place = /at position \d+( \(line \d+ column \d+\))?/.exec(reason)?.[0] ?? '';
  if (first === 0) return 'it begins with 0x00, as in a frame with a schema id, where JSON text is expected';
  return place ? `it is not JSON, ${place}` : 'it is not JSON';
}
