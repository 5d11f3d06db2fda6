import { formatSnapshot, parseSnapshot } from '../../../../src/messaging/outbox/snapshot';
import { afterPage, afterPoll, freeze } from '../../../../src/messaging/outbox/window';

const done = parseSnapshot('100:110:100,105');
const poll = { position: 900n, snapshot: '120:130:120', overflow: true, lowestOfRunning: null };
const floor = { xmax: 500n, xmin: 300n };

describe('a snapshot', () => {
  it('is read from and written as the text that PostgreSQL uses', () => {
    expect(done).toEqual({ xmin: 100n, xmax: 110n, xip: [100n, 105n] });
    expect(formatSnapshot(done)).toBe('100:110:100,105');
    expect(parseSnapshot('18446744073709551610:18446744073709551611:').xmax).toBe(18446744073709551611n);
  });

  it('is nothing but numbers, since it is written into SQL', () => {
    for (const text of ['', '1:2', '1:2:x', `1:2:3');--`, '1:2:3,', '-1:2:']) {
      expect(() => parseSnapshot(text)).toThrow(/not a pg_snapshot/);
    }
  });
});

describe('the window', () => {
  it('is gone after a poll that took everything', () => {
    expect(afterPoll({ ...poll, overflow: false })).toEqual({ done: parseSnapshot('120:130:120'), window: null });
  });

  it('starts at the floor of new ids when running ones brought nothing', () => {
    expect(freeze(done, poll, floor).window).toEqual({ snapshot: parseSnapshot('120:130:120'), hi: 900n, last: 500n });
  });

  it('starts below the lowest row of ids that were running', () => {
    expect(freeze(done, { ...poll, lowestOfRunning: 400n }, floor).window?.last).toBe(399n);
    expect(freeze(done, { ...poll, lowestOfRunning: 700n }, floor).window?.last).toBe(500n);
  });

  it('starts at the lowest floor when it is unknown which rows those brought', () => {
    expect(freeze(done, { ...poll, lowestOfRunning: undefined }, floor).window?.last).toBe(300n);
  });

  it('moves up page by page and ends with its snapshot', () => {
    const { window } = freeze(done, poll, floor);
    if (!window) throw new Error('no window');
    const next = afterPage(done, window, { lastSeq: 600n, finished: false });
    expect(next).toEqual({ done, window: { ...window, last: 600n } });
    expect(afterPage(done, window, { lastSeq: 900n, finished: true })).toEqual({ done: window.snapshot, window: null });
  });
});
