import { OffsetTracker } from '../../../src/simulator/offset-tracker';

const at = (offset: bigint, partition = 0) => ({ topic: 't', partition, offset, leaderEpoch: 0 });

describe('the offset tracker', () => {
  it('commits nothing past a request that waits for its answer', () => {
    const tracker = new OffsetTracker();
    const [first, second] = [tracker.take(at(0n), 1), tracker.take(at(1n), 1)];
    tracker.answered(second);
    expect(tracker.committable()).toEqual([]);
    tracker.answered(first);
    expect(tracker.committable()).toEqual([at(2n)]);
    expect(tracker.committable()).toEqual([]);
  });

  it('counts a request as answered with its last answer', () => {
    const tracker = new OffsetTracker();
    const ticket = tracker.take(at(7n), 2);
    tracker.answered(ticket);
    expect([tracker.pending, tracker.committable()]).toEqual([1, []]);
    tracker.answered(ticket);
    expect([tracker.pending, tracker.committable()]).toEqual([0, [at(8n)]]);
  });

  it('passes over requests that get no answer', () => {
    const tracker = new OffsetTracker();
    tracker.take(at(0n), 0);
    tracker.take(at(3n, 1), 1);
    expect(tracker.committable()).toEqual([at(1n)]);
  });
});
