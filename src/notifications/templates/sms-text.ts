/** GSM 03.38: characters that take one place, and those that take two. */
const GSM =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const GSM_EXTENDED = '^{}\\[~]|€';

/** Three parts: 3 × 153 characters of GSM's alphabet, or 3 × 67 of UTF-16 where one is outside of it. */
const MOST = { gsm: 459, ucs2: 201 };
const ONE_PART = { gsm: 160, ucs2: 70 };
const PART = { gsm: 153, ucs2: 67 };
type Alphabet = keyof typeof MOST;

/** Places that one character takes in GSM's alphabet; undefined: it is not in it. */
function placesOf(character: string): number | undefined {
  if (GSM.includes(character)) return 1;
  return GSM_EXTENDED.includes(character) ? 2 : undefined;
}

/** How a text travels: its alphabet, its length in it, and in how many messages. */
export function measure(text: string): { alphabet: Alphabet; length: number; parts: number } {
  const places = Array.from(text, placesOf);
  const isGsm = places.every((place) => place !== undefined);
  const alphabet = isGsm ? 'gsm' : 'ucs2';
  const length = isGsm ? places.reduce<number>((sum, place) => sum + (place ?? 0), 0) : text.length;
  return { alphabet, length, parts: length <= ONE_PART[alphabet] ? 1 : Math.ceil(length / PART[alphabet]) };
}

/** One line breaks nothing, and what is longer than three parts is cut, which three dots say. */
export function smsText(text: string): string {
  const whole = text
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n[\n ]*/g, '\n')
    .trim();
  const { alphabet, length } = measure(whole);
  if (length <= MOST[alphabet]) return whole;
  const kept: string[] = [];
  let used = '...'.length;
  for (const character of whole) {
    used += alphabet === 'gsm' ? (placesOf(character) ?? 0) : character.length;
    if (used > MOST[alphabet]) break;
    kept.push(character);
  }
  return `${kept.join('').trimEnd()}...`;
}
