const UNITS: readonly (readonly [name: string, ms: number, upTo: number])[] = [
  ['min', 60_000, 120 * 60_000],
  ['h', 3_600_000, 72 * 3_600_000],
  ['days', 86_400_000, Infinity],
];

/** A span of time for people: `50 min`, `3 h`, `5 days`. */
export function spanInWords(ms: number): string {
  const span = Math.abs(ms);
  if (span < 60_000) return 'less than a minute';
  const [name, unit] = UNITS.find(([, , upTo]) => span < upTo) ?? ['days', 86_400_000];
  return `${Math.round(span / unit)} ${name}`;
}

/** `1 line`, `2 lines`. */
export const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
