import { isUtf8 } from 'node:buffer';
import { Malformed } from './malformed';

/** The document in `bytes` from `from` on. Throws {@link Malformed}. */
export function parseJson(bytes: Buffer, from: number): unknown {
  if (nestsTooDeep(bytes, from)) throw new Malformed(`it nests deeper than ${MAX_DEPTH} levels`);
  const text = bytes.toString('utf8', from);
  if (text.includes('\ufffd') && !isUtf8(bytes.subarray(from))) throw new Malformed('it is not UTF-8');
  try {
    // A byte order mark is not part of JSON (RFC 8259, 8.1 lets readers ignore it).
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw new Malformed(notJson(bytes[from], (error as Error).message));
  }
}

/** As in the other formats. JSON.parse takes any depth, and whoever walks through what it gives, or writes it again, overflows the stack. */
const MAX_DEPTH = 100;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [BRACKET, BRACE] = [0x5b, 0x7b];
const [BRACKET_END, BRACE_END] = [0x5d, 0x7d];

/** Of text that is no JSON it says anything; the parser has the last word on that. */
function nestsTooDeep(bytes: Buffer, from: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (quoted) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
    else if (byte === BRACKET || byte === BRACE) {
      if (++depth > MAX_DEPTH) return true;
    } else if (byte === BRACKET_END || byte === BRACE_END) depth--;
  }
  return false;
}

function notJson(first: number | undefined, reason: string): string {
  // V8 quotes the text around the fault; a partner may be told where, not what others wrote there.
  const place = /at position \d+( \(line \d+ column \d+\))?/.exec(reason)?.[0] ?? '';
  if (first === 0) return 'it begins with 0x00, as in a frame with a schema id, where JSON text is expected';
  return place ? `it is not JSON, ${place}` : 'it is not JSON';
}
