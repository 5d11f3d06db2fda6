import { allowance } from '../../../../../src/messaging/triage/replays/pace';

/** Takes steps at these times, seconds; says how many each may release. */
function run(pace: number | null, times: readonly number[], most = 500): number[] {
  let nextAt = times[0] ?? 0;
  return times.map((now) => {
    const allowed = allowance(pace, nextAt, now, most);
    nextAt = allowed.count > 0 ? allowed.nextAt(allowed.count) : nextAt;
    return allowed.count;
  });
}
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/** The same numbers for the same seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

describe('the pace', () => {
  it.each([1, 3, 50, 997])('of %i a second is kept over irregular steps', (pace) => {
    const draw = random(pace);
    const times = [1000];
    while ((times.at(-1) as number) < 1030) times.push((times.at(-1) as number) + draw() * 0.3);
    const sent = sum(run(pace, times));
    const span = (times.at(-1) as number) - 1000;
    expect(Math.abs(sent - pace * span)).toBeLessThanOrEqual(1 + pace * 0.3);
  });

  it('begins with one message and not with a heap', () => {
    expect(run(10, [50, 50, 50.1, 50.1])).toEqual([1, 0, 1, 0]);
  });

  it('catches up half a second of a standstill, however long that was', () => {
    expect(run(10, [50, 3650, 3650, 3650.1])).toEqual([1, 6, 0, 1]);
  });

  it('does not count what was skipped', () => {
    const allowed = allowance(10, 50, 50.4, 500);
    expect(allowed.count).toBe(5);
    expect(allowance(10, allowed.nextAt(2), 50.4, 500).count).toBe(3);
  });

  it('gives no more than there is room for, and the rest at once when there is', () => {
    expect(run(1000, [50, 50.1, 50.1], 60)).toEqual([1, 60, 40]);
  });

  it('without one is as fast as it goes', () => {
    expect(run(null, [50, 50])).toEqual([500, 500]);
  });
});
