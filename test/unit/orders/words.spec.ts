import { count, spanInWords } from '../../../src/orders/domain/words';

const MINUTE = 60_000;

describe('words for people', () => {
  it.each<[number, string]>([
    [0, 'less than a minute'],
    [59_999, 'less than a minute'],
    [MINUTE, '1 min'],
    [-50 * MINUTE, '50 min'],
    [119 * MINUTE, '119 min'],
    [3 * 60 * MINUTE, '3 h'],
    [71 * 60 * MINUTE, '71 h'],
    [5 * 24 * 60 * MINUTE, '5 days'],
  ])('call a span of %i ms "%s"', (ms, words) => {
    expect(spanInWords(ms)).toBe(words);
  });

  it('count one and many', () => {
    expect([count(1, 'line'), count(2, 'line'), count(0, 'time')]).toEqual(['1 line', '2 lines', '0 times']);
  });
});
