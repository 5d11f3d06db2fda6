/** When a receiver wants quiet, by its own clock: from (inclusive) to (exclusive), across midnight where `from` is the later one. */
export interface QuietHours {
  /** `22:00` or `22:00:00` */
  from: string;
  to: string;
  /** Name in the IANA database. */
  timeZone: string;
}

const DAY = 86_400_000;

/**
 * The first instant, after `at`, at which the receiver's clock shows a time outside its quiet hours; null when `at` is outside them, or
 * when this machine knows no such zone: rather told at night than never. What the clock shows decides, so quiet that ends within an hour that
 * is left out ends where that hour would have begun, and an hour that comes twice is quiet twice.
 */
export function quietUntil(quiet: QuietHours, at: Date): Date | null {
  const clock = clockOf(quiet.timeZone);
  if (!clock) return null;
  const [from, to] = [timeOfDay(quiet.from), timeOfDay(quiet.to)];
  const isQuiet = (shown: number) => (from < to ? shown >= from && shown < to : shown >= from || shown < to);
  let now = at.getTime();
  let offset = clock(now);
  // A day has few changes of the clock; each is one more look.
  for (let looks = 0; looks < 8; looks++) {
    const shown = modulo(now + offset, DAY);
    if (!isQuiet(shown)) return looks === 0 ? null : new Date(now);
    const end = now + modulo(to - shown, DAY);
    const later = clock(end);
    if (later === offset) return new Date(end);
    now = changeBetween(clock, now, end, offset);
    offset = clock(now);
  }
  return new Date(now);
}

/** The first millisecond in (from, to] whose offset is not `offset`, where there is one change. */
function changeBetween(clock: (instant: number) => number, from: number, to: number, offset: number): number {
  let [same, other] = [from, to];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (clock(middle) === offset) same = middle;
    else other = middle;
  }
  return other;
}

const modulo = (value: number, by: number) => ((value % by) + by) % by;

function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number);
  return (hours * 3600 + minutes * 60 + seconds) * 1000;
}

const clocks = new Map<string, ((instant: number) => number) | null>();

/** How far a zone's clock is ahead of UTC at an instant, ms; null where no such zone is known. */
function clockOf(zone: string): ((instant: number) => number) | null {
  let clock = clocks.get(zone);
  if (clock === undefined) clocks.set(zone, (clock = makeClock(zone)));
  return clock;
}

function makeClock(zone: string): ((instant: number) => number) | null {
  try {
    const format = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
      timeZone: zone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
    return (instant) => {
      const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
      for (const { type, value } of format.formatToParts(instant)) part[type] = Number(value);
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
      return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000;
    };
  } catch {
    return null;
  }
}

/** Is it a zone by its name in the IANA database? `+02:00` is none: it knows no summer time. */
export const isZone = (zone: string): boolean =>
  /^[A-Za-z][\w+-]*(\/[\w+-]+)*$/.test(zone) && zone.length <= 64 && clockOf(zone) !== null;
