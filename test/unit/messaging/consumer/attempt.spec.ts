import { nextAttempt } from '../../../../src/messaging/consumer/attempt';

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
