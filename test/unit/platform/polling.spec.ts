import { backoffMs, retryForever } from '../../../src/platform/polling';

describe('backoff', () => {
  const policy = { initialMs: 100, maxMs: 1000 };

  it('doubles, between next to nothing and the whole, up to the cap', () => {
    expect([1, 2, 3, 4, 5, 60].map((attempt) => backoffMs(policy, attempt, 0))).toEqual([5, 10, 20, 40, 50, 50]);
    expect(backoffMs({ initialMs: 1, maxMs: 1 }, 1, 0)).toBe(1);
    expect([1, 2, 3, 4, 5, 60].map((attempt) => backoffMs(policy, attempt, 0.999_999))).toEqual([
      100, 200, 400, 800, 1000, 1000,
    ]);
  });

  it('is retried until the work succeeds, telling every failure', async () => {
    const failures: number[] = [];
    let calls = 0;
    const work = () => (++calls < 4 ? Promise.reject(new Error('not yet')) : Promise.resolve('done'));
    const result = await retryForever(work, {
      policy: { initialMs: 1, maxMs: 2 },
      signal: new AbortController().signal,
      onFailure: (_, attempt) => failures.push(attempt),
    });
    expect([result, failures]).toEqual(['done', [1, 2, 3]]);
  });

  it('ends when the process does', async () => {
    const aborter = new AbortController();
    const endless = retryForever(() => Promise.reject(new Error('no')), {
      policy: { initialMs: 60_000, maxMs: 60_000 },
      signal: aborter.signal,
      onFailure: () => aborter.abort(new Error('stopping')),
    });
    await expect(endless).rejects.toThrow('stopping');
  });
});
