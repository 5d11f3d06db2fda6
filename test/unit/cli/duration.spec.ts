import { InvalidArgumentError } from 'commander';
import { duration } from '../../../src/cli/duration';

describe('a length of time as an option', () => {
  it.each([
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['90d', 7_776_000_000],
    ['36525d', 36_525 * 86_400_000],
  ])('%s is %s ms', (text, ms) => {
    expect(duration(text)).toBe(ms);
  });

  it.each(['', '90', '0d', '-1d', '1.5h', '3 weeks', '90D', '36526d', '1s'])('"%s" is none', (text) => {
    expect(() => duration(text)).toThrow(InvalidArgumentError);
  });
});
