import { InvalidArgumentError } from 'commander';
import { laneOrSeq } from '../../../src/cli/outbox.command';
import { instant, parkedIds, text, wholeUpTo } from '../../../src/cli/options';

describe('an option', () => {
  it('is a time: how long ago, or itself', () => {
    expect(instant('2026-02-03T04:05:06Z')).toBe('2026-02-03T04:05:06Z');
    expect(Math.abs(Date.parse(instant('30m')) - (Date.now() - 1_800_000))).toBeLessThan(60_000);
  });

  it('collects ids', () => {
    expect(parkedIds('2', parkedIds('1'))).toEqual(['1', '2']);
  });

  it.each<[(raw: string) => unknown, string]>([
    [instant, 'yesterday'],
    [instant, '2026-02-03T99:00:00Z'],
    [instant, '3w'],
    [parkedIds, '0'],
    [parkedIds, '../orders'],
    [wholeUpTo(10), '11'],
    [wholeUpTo(10), '0'],
    [wholeUpTo(10), '1.5'],
    [text, ' '],
    [text, 'a\x1b[2J'],
    [laneOrSeq, 'orders.acme.request.v1'],
    [laneOrSeq, '../1'],
  ])('%p refuses %j', (parse, raw) => {
    expect(() => parse(raw)).toThrow(InvalidArgumentError);
  });

  it.each(['48211', 'orders.acme.request.v1/3'])('names a lane or a message: %s', (raw) => {
    expect(laneOrSeq(raw)).toBe(raw);
  });
});
