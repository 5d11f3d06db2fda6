import { countedSince, nextAttempt } from '../../../../src/messaging/consumer/attempt';

const policy = { initialMs: 1_000, maxMs: 60_000, attempts: 5, maxAgeMs: 100_000 };
const start = new Date('2026-03-01T00:00:00Z');
const after = (ms: number) => new Date(start.getTime() + ms);

describe('a failed attempt', () => {
  test.each([
    [1, 1_000],
    [2, 2_000],
    [4, 8_000],
  ])('number %i is followed by another after a pause of up to %i ms', (attempts, most) => {
    const next = (random: number) => nextAttempt(policy, { attempts, since: start }, after(500), random);
    expect(next(0.999_999)).toEqual(after(500 + most));
    expect(next(0)?.getTime()).toBeGreaterThan(after(500).getTime());
    expect(next(0)?.getTime()).toBeLessThanOrEqual(after(500 + most / 10).getTime());
  });

  test('is the last one when there were as many as the contract allows', () => {
    expect(nextAttempt(policy, { attempts: 5, since: start }, after(1))).toBeUndefined();
    expect(nextAttempt({ ...policy, attempts: 1 }, { attempts: 1, since: start }, start)).toBeUndefined();
  });

  test('is the last one when the first is as long ago as the contract allows, not before', () => {
    expect(nextAttempt(policy, { attempts: 4, since: start }, after(99_999), 0.9)).toEqual(after(100_000));
    expect(nextAttempt(policy, { attempts: 4, since: start }, after(100_000))).toBeUndefined();
  });
});

describe('the age of a message', () => {
  test('is counted from its first failure', () => {
    expect(countedSince({ attempts: 0, since: null, dueAt: after(0) }, after(7))).toEqual(after(7));
    expect(countedSince({ attempts: 1, since: start, dueAt: after(9_000) }, after(9_000))).toEqual(start);
  });

  test('stands still while it is due and not tried: what was left of it then is left', () => {
    const late = after(9_000 + 900_000);
    const since = countedSince({ attempts: 1, since: start, dueAt: after(9_000) }, late);
    expect(since).toEqual(after(900_000));
    expect(nextAttempt(policy, { attempts: 2, since }, late, 0.999_999)).toEqual(after(909_000 + 2_000));
  });

  test('ends with the attempt that was due at its end, however late that is made', () => {
    const late = after(100_000 + 900_000);
    const since = countedSince({ attempts: 3, since: start, dueAt: after(100_000) }, late);
    expect(nextAttempt(policy, { attempts: 4, since }, late)).toBeUndefined();
  });

  test('begins anew where it was held behind another', () => {
    expect(countedSince({ attempts: 3, since: start, dueAt: null }, after(900_000))).toEqual(after(900_000));
  });

  test('is no longer for a clock that is behind', () => {
    expect(countedSince({ attempts: 1, since: start, dueAt: after(9_000) }, after(8_000))).toEqual(start);
  });
});
