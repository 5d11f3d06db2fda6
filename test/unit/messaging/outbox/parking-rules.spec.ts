import {
  Acknowledgements,
  type FailingLane,
  judge,
  PARKING_TIMES,
} from '../../../../src/messaging/outbox/parking/parking-rules';
import { reasonOf } from '../../../../src/messaging/outbox/parking/reasons';

const lane: FailingLane = {
  failures: 5,
  failingForMs: 11_000,
  rows: 10,
  code: 'not-acknowledged',
  othersSentAgoMs: 100,
  full: false,
};
const verdict = (change: Partial<FailingLane>) => judge({ ...lane, ...change }, PARKING_TIMES);

describe('a lane that fails', () => {
  it('is parked when it goes on while others flow, not before', () => {
    expect(verdict({})).toBe('park');
    expect(verdict({ failingForMs: 9000 })).toBe('wait');
  });

  it('is parked with its second failure when it holds much, or fills the memory', () => {
    const young = { failingForMs: 100, othersSentAgoMs: 50 };
    expect(verdict({ ...young, rows: 2001 })).toBe('park');
    expect(verdict({ ...young, rows: 2000 })).toBe('wait');
    expect(verdict({ ...young, rows: 2001, failures: 1 })).toBe('wait');
    expect(verdict({ ...young, full: true })).toBe('park');
  });

  it('waits with all others when no other lane is acknowledged, unless the broker itself names the topic and nothing more can be read', () => {
    const alone = { othersSentAgoMs: Number.POSITIVE_INFINITY };
    expect(verdict(alone)).toBe('broker');
    expect(verdict({ ...alone, full: true })).toBe('broker');
    expect(verdict({ ...alone, code: 'topic-missing' })).toBe('broker');
    expect(verdict({ ...alone, code: 'topic-missing', full: true })).toBe('park');
    expect(verdict({ ...alone, code: 'broker-unreachable', full: true })).toBe('broker');
    expect(verdict({ othersSentAgoMs: 10_001 })).toBe('broker');
    // A broker that has just gone: the others were acknowledged before, not since.
    expect(verdict({ failingForMs: 100, othersSentAgoMs: 150, rows: 2001 })).toBe('broker');
  });
});

describe('acknowledgements of other lanes', () => {
  it('leave out those of the lane that asks', () => {
    const seen = new Acknowledgements<string>();
    expect(seen.othersAgo('a', 100)).toBe(Number.POSITIVE_INFINITY);
    seen.note('a', 10);
    seen.note('a', 20);
    expect(seen.othersAgo('a', 100)).toBe(Number.POSITIVE_INFINITY);
    expect(seen.othersAgo('b', 100)).toBe(80);
    seen.note('b', 30);
    seen.note('b', 40);
    expect(seen.othersAgo('a', 100)).toBe(60);
    expect(seen.othersAgo('b', 100)).toBe(80);
    expect(seen.othersAgo('c', 100)).toBe(60);
  });
});

describe('the reason of a parked lane', () => {
  it('says what happened and what to do, then in the words of the broker', () => {
    expect(reasonOf('topic-missing', 'unknown topic')).toMatch(/does not exist.*Make it \(again\).*\(unknown topic\)$/);
    expect(reasonOf('never-heard-of')).toBe('Sending fails.');
    expect(reasonOf('not-acknowledged', 'x'.repeat(5000))).toHaveLength(1000);
  });
});
