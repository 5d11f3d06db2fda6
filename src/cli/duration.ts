import { InvalidArgumentError } from 'commander';

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90d`, `12h` or `30m` as milliseconds; up to a hundred years. For commander's options. */
export function duration(raw: string): number {
  const [, digits, unit] = /^(\d{1,6})([mhd])$/.exec(raw) ?? [];
  const ms = Number(digits) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (ms > 0 && ms <= 36_525 * UNIT_MS.d) return ms;
  throw new InvalidArgumentError('a number of minutes, hours or days such as 30m, 12h or 90d');
}
