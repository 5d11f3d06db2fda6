import { counted, length, localTime, localTimes } from '../../../../src/cli/terminal/words';

it('a time is told by the clock of the machine', () => {
  expect(localTime(new Date(2026, 1, 3, 5, 4, 6, 789).toISOString())).toBe('2026-02-03 05:04:06');
  expect(localTime(null)).toBeUndefined();
});

it('so is every time within a sentence, and nothing else', () => {
  const at = new Date(2026, 1, 3, 5, 4, 6, 789).toISOString();
  expect(localTimes(`Order 2026-17 fell due at ${at}, ${at.replace('.789', '')}.`)).toBe(
    'Order 2026-17 fell due at 2026-02-03 05:04:06, 2026-02-03 05:04:06.',
  );
});

it.each([
  [0.2, '1 s'],
  [89, '89 s'],
  [90, '2 min'],
  [3_600, '60 min'],
  [7_500, '2 h 5 min'],
  [7_200, '2 h'],
  [273_600, '3 d 4 h'],
])('%s seconds are %s', (seconds, words) => {
  expect(length(seconds)).toBe(words);
});

it('one is not many', () => {
  expect([counted(1, 'key'), counted(0, 'key'), counted(12_000, 'message')]).toEqual([
    '1 key',
    '0 keys',
    '12,000 messages',
  ]);
});
