/// <reference lib="esnext.temporal" />
import fc from 'fast-check';
import { isZone, type QuietHours, quietUntil } from '../../../src/notifications/domain/quiet-hours';

const BERLIN = 'Europe/Berlin';
const until = (from: string, to: string, timeZone: string, at: string) =>
  quietUntil({ from, to, timeZone }, new Date(at))?.toISOString() ?? null;

describe('quiet hours', () => {
  it.each([
    // Within a day, and across midnight: from counts, to does not.
    ['12:00', '14:00', 'UTC', '2026-05-05T11:59:59.999Z', null],
    ['12:00', '14:00', 'UTC', '2026-05-05T12:00:00.000Z', '2026-05-05T14:00:00.000Z'],
    ['12:00', '14:00', 'UTC', '2026-05-05T13:59:59.999Z', '2026-05-05T14:00:00.000Z'],
    ['12:00', '14:00', 'UTC', '2026-05-05T14:00:00.000Z', null],
    ['22:00', '07:00', 'UTC', '2026-05-05T23:30:00.000Z', '2026-05-06T07:00:00.000Z'],
    ['22:00', '07:00', 'UTC', '2026-05-06T00:00:00.000Z', '2026-05-06T07:00:00.000Z'],
    ['22:00', '07:00', 'UTC', '2026-05-06T07:00:00.000Z', null],
    ['22:00', '00:00', 'UTC', '2026-05-05T23:30:00.000Z', '2026-05-06T00:00:00.000Z'],
    // By the receiver's clock.
    ['22:00', '07:00', BERLIN, '2026-01-05T21:00:00.000Z', '2026-01-06T06:00:00.000Z'],
    ['22:00', '07:00', BERLIN, '2026-07-05T20:00:00.000Z', '2026-07-06T05:00:00.000Z'],
    ['22:00', '07:00', 'Asia/Kathmandu', '2026-07-05T18:00:00.000Z', '2026-07-06T01:15:00.000Z'],
    ['22:00', '07:00', 'Pacific/Kiritimati', '2026-07-05T09:00:00.000Z', '2026-07-05T17:00:00.000Z'],
    ['22:00:00', '07:00:00', BERLIN, '2026-07-05T20:00:00.000Z', '2026-07-06T05:00:00.000Z'],
    // A night with an hour less, and one with an hour more.
    ['22:00', '07:00', BERLIN, '2026-03-28T21:30:00.000Z', '2026-03-29T05:00:00.000Z'],
    ['22:00', '07:00', BERLIN, '2026-10-24T20:30:00.000Z', '2026-10-25T06:00:00.000Z'],
    // 02:30 is left out: quiet ends where that hour would have begun.
    ['22:00', '02:30', BERLIN, '2026-03-28T23:00:00.000Z', '2026-03-29T01:00:00.000Z'],
    // Quiet lies in what is left out: it does not come.
    ['02:10', '02:50', BERLIN, '2026-03-29T00:59:59.999Z', null],
    ['02:10', '02:50', BERLIN, '2026-03-29T01:00:00.000Z', null],
    // 02:00 to 03:00 comes twice: quiet that ends in it ends twice.
    ['22:00', '02:30', BERLIN, '2026-10-24T22:00:00.000Z', '2026-10-25T00:30:00.000Z'],
    ['22:00', '02:30', BERLIN, '2026-10-25T00:30:00.000Z', null],
    ['22:00', '02:30', BERLIN, '2026-10-25T01:00:00.000Z', '2026-10-25T01:30:00.000Z'],
    ['02:10', '02:50', BERLIN, '2026-10-25T00:10:00.000Z', '2026-10-25T00:50:00.000Z'],
    ['02:10', '02:50', BERLIN, '2026-10-25T01:10:00.000Z', '2026-10-25T01:50:00.000Z'],
    // At the second 02:00 the clock jumps from 02:59:59 into quiet again.
    ['22:00', '03:00', BERLIN, '2026-10-25T00:59:59.999Z', '2026-10-25T02:00:00.000Z'],
    // A change of half an hour.
    ['22:00', '01:45', 'Australia/Lord_Howe', '2026-04-04T14:30:00.000Z', '2026-04-04T14:45:00.000Z'],
    // A day that is left out whole: the Friday after this Thursday was none.
    ['22:00', '07:00', 'Pacific/Apia', '2011-12-30T09:00:00.000Z', '2011-12-30T17:00:00.000Z'],
  ])('from %s to %s in %s, at %s, last until %s', (from, to, zone, at, end) => {
    expect(until(from, to, zone, at)).toBe(end);
  });

  it('are none in a zone that this machine does not know', () => {
    expect(until('22:00', '07:00', 'Europe/Atlantis', '2026-05-05T23:00:00.000Z')).toBeNull();
  });

  it.each([
    ['Europe/Berlin', true],
    ['America/Argentina/Buenos_Aires', true],
    ['UTC', true],
    ['Etc/GMT+5', true],
    ['+02:00', false],
    ['Europe/Atlantis', false],
    ['', false],
    ['Europe/Berlin\n', false],
    ['../etc', false],
  ])('know %j as a zone: %s', (zone, known) => {
    expect(isZone(zone)).toBe(known);
  });

  // Temporal computes with zones by itself, and has the changes of their clocks.
  const ZONES = Intl.supportedValuesOf('timeZone');
  const shown = (instant: number, zone: string) =>
    Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).toPlainTime();
  const isQuiet = ({ from, to, timeZone }: QuietHours, instant: number) => {
    const now = shown(instant, timeZone);
    const since = Temporal.PlainTime.compare(now, from) >= 0;
    const before = Temporal.PlainTime.compare(now, to) < 0;
    return from < to ? since && before : since || before;
  };
  /** The next change of the zone's clock after an instant; undefined: none. */
  const changeAfter = (instant: number, zone: string) =>
    Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).getTimeZoneTransition('next')
      ?.epochMilliseconds;
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
  const zone = fc.constantFrom(...ZONES, 'UTC', 'Etc/GMT+5');
  const instant = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2040, 0) });

  function holds(quiet: QuietHours, at: number): void {
    const end = quietUntil(quiet, new Date(at))?.getTime();
    expect(end !== undefined).toBe(isQuiet(quiet, at));
    if (end === undefined) return;
    expect(isQuiet(quiet, end)).toBe(false);
    // Quiet all the way: what the clock shows only grows between two of its changes, so their sides and each quarter of an hour tell.
    const looks = [end - 1];
    for (let look = at; look < end; look += 900_000) looks.push(look);
    for (let change = changeAfter(at, quiet.timeZone); change !== undefined && change < end;) {
      looks.push(Math.max(at, change - 1), change);
      change = changeAfter(change, quiet.timeZone);
    }
    expect(looks.filter((look) => !isQuiet(quiet, look))).toEqual([]);
    expect(end - at).toBeLessThanOrEqual(49 * 3_600_000);
  }

  it('are those that Temporal finds, at any time in any zone', () => {
    fc.assert(
      fc.property(time, time, zone, instant, (from, to, timeZone, at) => {
        fc.pre(from !== to);
        holds({ from, to, timeZone }, at);
      }),
      { numRuns: 3000 },
    );
  });

  it('are those that Temporal finds, in the day around each change of a clock', () => {
    fc.assert(
      fc.property(
        time,
        time,
        zone,
        instant,
        fc.integer({ min: -90_000_000, max: 7_200_000 }),
        (from, to, timeZone, about, aside) => {
          fc.pre(from !== to);
          const change = changeAfter(about, timeZone);
          fc.pre(change !== undefined);
          holds({ from, to, timeZone }, change + aside);
        },
      ),
      { numRuns: 3000 },
    );
  });
});
