import { generated } from './generated';

type Decode = (bytes: Buffer, at: number) => string | undefined;

/** Longer texts are faster through Node's own decoder. A time with milliseconds has 24 letters. */
const LONGEST = 24;

/** By length: reads so many letters of ASCII, or undefined when there are others. */
const DECODERS: readonly Decode[] = Array.from({ length: LONGEST + 1 }, (_, length) => {
  const codes = Array.from({ length }, (_, i) => `c${i}`);
  const read = codes.map((code, i) => `const ${code} = bytes[at + ${i}];`).join('\n');
  const text = `(${codes.join(' | ') || '0'}) < 128 ? String.fromCharCode(${codes.join(', ')}) : undefined`;
  return generated<Decode>({}, `(bytes, at) => {\n${read}\nreturn ${text};\n}`);
});

/** The text, if it is short and ASCII; the bytes have to be there. */
export function shortText(bytes: Buffer, at: number, length: number): string | undefined {
  return length <= LONGEST ? DECODERS[length]?.(bytes, at) : undefined;
}
