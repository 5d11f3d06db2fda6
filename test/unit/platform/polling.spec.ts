import {
  BackgroundLoop,
  backoffMs,
  nowAndThen,
  regularly,
  retryAfterMs,
  retryForever,
  sweeping,
} from '../../../src/platform/polling';
import { pauseAfterLook } from '../../../src/platform/polling/now-and-then';

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

describe('how long a server asks to be left alone', () => {
  const now = Date.UTC(2026, 10, 30, 9, 15);

  it('is read as seconds and as a date, and is no time gone by', () => {
    expect(retryAfterMs('120', now)).toBe(120_000);
    expect(retryAfterMs('Mon, 30 Nov 2026 09:16:00 GMT', now)).toBe(60_000);
    expect(retryAfterMs('Mon, 30 Nov 1999 09:16:00 GMT', now)).toBe(0);
    for (const header of [undefined, '', 'soon', ['1', '2']]) expect(retryAfterMs(header, now)).toBeUndefined();
  });

  it('is a day at most, so that there is such a date', () => {
    for (const header of ['9'.repeat(30), '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])
      expect(retryAfterMs(header, now)).toBe(86_400_000);
  });
});

describe('work that is done again and again', () => {
  /** Ends the repetition in its `last` run; `failing` says of what run, and why. */
  async function runs(
    repetition: typeof regularly,
    { last, failing = {}, everyMs = 1 }: { last: number; failing?: Record<number, string>; everyMs?: number },
  ) {
    const aborter = new AbortController();
    const told: string[] = [];
    let count = 0;
    const work = () => {
      count++;
      if (count === last) aborter.abort();
      const why = failing[count];
      return why === undefined ? Promise.resolve() : Promise.reject(new Error(why));
    };
    const onFailure = (error: unknown) => told.push((error as Error).message);
    await repetition(work, { everyMs, signal: aborter.signal, onFailure });
    return { count, told };
  }

  it.each([nowAndThen, regularly, sweeping])(
    'goes on behind a failure, which is told once until it is over',
    async (how) => {
      const failing = { 1: 'away', 2: 'away', 4: 'away', 5: 'away' };
      expect(await runs(how, { last: 6, failing })).toEqual({ count: 6, told: ['away', 'away'] });
    },
  );

  it.each([nowAndThen, regularly, sweeping])(
    'tells also for what other reason it fails, once until it is over',
    async (how) => {
      const failing = { 1: 'away', 2: 'forbidden', 3: 'away', 4: 'forbidden', 6: 'forbidden' };
      expect(await runs(how, { last: 7, failing })).toEqual({ count: 7, told: ['away', 'forbidden', 'forbidden'] });
    },
  );

  it.each([nowAndThen, regularly, sweeping])('says nothing of what was broken off', async (how) => {
    expect(await runs(how, { last: 2, failing: { 2: 'broken off' } })).toEqual({ count: 2, told: [] });
  });

  it('does not begin when it is stopped in its first pause, and begins at once without one', async () => {
    const aborter = new AbortController();
    let count = 0;
    const work = () => Promise.resolve(void count++);
    const repetition = { everyMs: 60_000, signal: aborter.signal, onFailure: () => undefined };
    const all = [sweeping, regularly, nowAndThen].map((how) => how(work, repetition));
    aborter.abort();
    await Promise.all(all);
    expect(count).toBe(2);
  });
});

describe('a look at what is to be shown', () => {
  const every = 15_000;

  it('takes one part in twenty of the time at most', () => {
    expect(pauseAfterLook(20, every, { seen: true, failing: false })).toBe(every);
    expect(pauseAfterLook(2_000, every, { seen: true, failing: false })).toBe(40_000);
  });

  it('comes soon where nothing was seen yet', () => {
    expect(pauseAfterLook(20, every, { seen: false, failing: true })).toBe(1_000);
    expect(pauseAfterLook(2, 100, { seen: false, failing: true })).toBe(100);
  });

  it.each([true, false])('is not put off for minutes by an outage in which each waits for a connection', (seen) => {
    expect(pauseAfterLook(5_000, every, { seen, failing: true })).toBe(20_000);
  });
});

describe('what runs beside the application', () => {
  class Probe extends BackgroundLoop {
    readonly seen: string[] = [];

    protected async run(signal: AbortSignal): Promise<void> {
      this.seen.push('begun');
      await regularly(() => Promise.resolve(), { everyMs: 60_000, signal });
      this.seen.push('ended');
    }
  }

  it('begins once with it, and has ended when it ends', async () => {
    const probe = new Probe();
    probe.onApplicationBootstrap();
    probe.start();
    expect(probe.seen).toEqual(['begun']);
    await probe.beforeApplicationShutdown();
    expect(probe.seen).toEqual(['begun', 'ended']);
  });

  it('ends also if it never began', async () => {
    const probe = new Probe();
    await probe.stop();
    expect(probe.seen).toEqual([]);
  });
});
