import { type CommitEntry, OffsetCommitter } from '../../../../src/messaging/kafka/offset-committer';
import { eventually } from '../../../support/eventually';

const entry = (partition: number, next: bigint): CommitEntry => ({ topic: 't', partition, next });

function committer(
  intervalMs: number,
  commit: (entries: readonly CommitEntry[]) => Promise<void> = () => Promise.resolve(),
) {
  const calls: (readonly CommitEntry[])[] = [];
  const failures: unknown[] = [];
  const offsets = new OffsetCommitter(
    (entries) => {
      calls.push(entries);
      return commit(entries);
    },
    intervalMs,
    (error) => failures.push(error),
  );
  return { offsets, calls, failures };
}

describe('the offset committer', () => {
  afterEach(() => jest.useRealTimers());

  it('commits the first at once and many later ones in one, the last always', async () => {
    jest.useFakeTimers();
    const { offsets, calls } = committer(100);
    offsets.add(entry(0, 1n));
    await jest.advanceTimersByTimeAsync(0);
    expect(calls).toHaveLength(1);
    for (let next = 2n; next <= 50n; next++) {
      offsets.add(entry(0, next));
      await jest.advanceTimersByTimeAsync(1);
    }
    offsets.add(entry(1, 7n));
    expect(calls).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(100);
    expect(calls).toEqual([[entry(0, 1n)], [entry(0, 50n), entry(1, 7n)]]);
  });

  it('sends all that is pending when it is flushed, also behind a commit under way', async () => {
    let release: () => void = () => undefined;
    const { offsets, calls } = committer(60_000, () => new Promise((resolve) => (release = resolve)));
    offsets.add(entry(0, 1n));
    await eventually(() => calls.length === 1);
    offsets.add(entry(0, 2n));
    const flushed = offsets.flush();
    release();
    await eventually(() => calls.length === 2);
    release();
    await flushed;
    expect(calls[1]).toEqual([entry(0, 2n)]);
    await offsets.flush();
    expect(calls).toHaveLength(2);
  });

  it('repeats a failed commit unless something newer stands in its place', async () => {
    let broken = true;
    const { offsets, calls, failures } = committer(20, () =>
      broken ? Promise.reject(new Error('gone')) : Promise.resolve(),
    );
    offsets.add(entry(0, 1n));
    offsets.add(entry(1, 1n));
    await eventually(() => failures.length >= 2);
    offsets.add(entry(0, 2n));
    broken = false;
    const before = calls.length;
    await eventually(() => calls.length > before);
    expect(calls.at(-1)).toEqual(expect.arrayContaining([entry(0, 2n), entry(1, 1n)]));
  });

  it('forgets what failed in a generation that is over', async () => {
    let fail: () => void = () => undefined;
    const { offsets, calls } = committer(10, () => new Promise((_, reject) => (fail = () => reject(new Error('old')))));
    offsets.add(entry(0, 1n));
    await eventually(() => calls.length === 1);
    offsets.clear();
    fail();
    await offsets.flush();
    expect(calls).toHaveLength(1);
  });
});
