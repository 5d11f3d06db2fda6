import { isUtf8 } from 'node:buffer';
import { Malformed } from './malformed';

/** The document in `bytes` from `from` on. Throws {@link Malformed}. */
export function parseJson(bytes: Buffer, from: number): unknown {
  const text = bytes.toString('utf8', from);
  if (text.includes('\ufffd') && !isUtf8(bytes.subarray(from))) throw new Malformed('it is not UTF-8');
  try {
    // A byte order mark is not part of JSON (RFC 8259, 8.1 lets readers ignore it).
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw new Malformed(notJson(bytes[from], (error as Error).message));
  }
}

function notJson(first: number | undefined, reason: string): string {
  // V8 quotes the text around the fault; a partner may be told where, not what others wrote there.
  const place = /at position \d+( \(line \d+ column \d+\))?/.exec(reason)?.[0] ?? '';
  if (first === 0) return 'it begins with 0x00, as in a frame with a schema id, where JSON text is expected';
  return place ? `it is not JSON, ${place}` : 'it is not JSON';
}
