import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Lane } from '../../../../src/messaging/outbox/lane';
import { Pace } from '../../../../src/messaging/outbox/pace';
import { type QueuedRow, rfc3339 } from '../../../../src/messaging/outbox/queued-row';
import { type Read, ReadAhead } from '../../../../src/messaging/outbox/read-ahead';
import { RUN_SPAN, toRuns } from '../../../../src/messaging/outbox/receipt-runs';
import type { Position } from '../../../../src/messaging/outbox/window';
import { Wakeable } from '../../../../src/platform/polling';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const row = (seq: number, size = 100, read = { left: 1 }): QueuedRow => ({
  seq: BigInt(seq),
  topic: 't',
  partition: 0,
  key: 'k',
  record: { key: 'k', value: null, headers: {} },
  size,
  time: '2026-01-01T00:00:00.000Z',
  read,
});
const rows = (count: number, size?: number) => Array.from({ length: count }, (_, n) => row(n + 1, size));
const numbers = (list: readonly QueuedRow[]) => list.map(({ seq }) => Number(seq));

describe('a lane', () => {
  const lane = (max?: number) => new Lane('t', 0, () => max);
  const x = { code: 'x', words: 'x', refused: false };
  const refusal = { ...x, refused: true };
  const batch = (count: number) => ({ rows: rows(count), guest: undefined });

  it('gives at most 500 records, and the same again until they are acknowledged', () => {
    const one = lane();
    rows(1200).forEach((each) => one.push(each));
    expect(one.next().rows).toHaveLength(500);
    expect(numbers(one.next().rows)[0]).toBe(1);
    one.failed(x, batch(500), 0);
    expect(numbers(one.next().rows)[0]).toBe(1);
    one.acknowledged(batch(500));
    expect(numbers(one.next().rows)[0]).toBe(501);
    one.acknowledged(batch(500));
    expect(numbers(one.next().rows)).toHaveLength(200);
    one.acknowledged(batch(200));
    expect(one.length).toBe(0);
  });

  it('gives no more than 800 KB, or 0.9 of what the topic takes, but never nothing', () => {
    const large = lane(10_000_000);
    rows(10, 300_000).forEach((each) => large.push(each));
    expect(large.next().rows).toHaveLength(2);
    const small = lane(10_000);
    rows(10, 4000).forEach((each) => small.push(each));
    expect(small.next().rows).toHaveLength(2);
    const tiny = lane(1000);
    rows(10, 4000).forEach((each) => tiny.push(each));
    expect(tiny.next().rows).toHaveLength(1);
  });

  it('lets go of what is acknowledged, though the lane never runs empty', async () => {
    const one = lane();
    let first: WeakRef<QueuedRow> | undefined;
    for (let n = 0; n < 20; n++) {
      const each = row(n);
      first ??= new WeakRef(each);
      one.push(each);
    }
    for (let n = 0; n < 10; n++) one.acknowledged(batch(1));
    // A WeakRef holds its target until the turn in which it was made has ended.
    await new Promise(setImmediate);
    collectGarbage();
    expect(first?.deref()).toBeUndefined();
    expect(numbers(one.next().rows)).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  });

  it('halves what is too large at once, down to one record, and backs off otherwise', () => {
    const one = lane();
    rows(8).forEach((each) => one.push(each));
    expect(one.failed(refusal, batch(8), 0)).toBe(0);
    expect(one.next().rows).toHaveLength(4);
    expect(one.failed(refusal, batch(1), 0)).toBeGreaterThan(0);
    for (let i = 0; i < 20; i++) one.failed(x, batch(8), 0);
    expect(one.failed(x, batch(8), 0)).toBeLessThanOrEqual(3000);
  });
});

describe('reading ahead', () => {
  const position = (last: number): Position => ({
    done: { xmin: 1n, xmax: 1n, xip: [] },
    window: { snapshot: { xmin: 2n, xmax: 2n, xip: [] }, hi: 100n, last: BigInt(last) },
  });
  const read = (ahead: ReadAhead, last: number, count: number): QueuedRow[] => {
    const one: Read = { left: count, position: position(last), oldest: String(last) };
    const list = Array.from({ length: count }, (_, n) => row(n, 10, one));
    ahead.add(one, list);
    return list;
  };

  it('lets the cursor follow over the contiguous prefix alone', () => {
    const ahead = new ReadAhead({ rows: 100, bytes: 1000 });
    const [first, second, third] = [read(ahead, 1, 3), read(ahead, 2, 2), read(ahead, 3, 1)];
    expect(ahead.sent(second)).toBeUndefined();
    expect(ahead.sent(first.slice(0, 2))).toBeUndefined();
    expect(ahead.oldest).toBe('1');
    expect(ahead.sent(first.slice(2))).toEqual(position(2));
    expect(ahead.oldest).toBe('3');
    ahead.extend(position(4));
    expect(ahead.sent(third)).toEqual(position(4));
    expect(ahead.extend(position(5))).toBe(false);
    expect(ahead.rows).toBe(0);
  });

  it('keeps no more reads than hold an unsent row, however long the first of them waits', () => {
    const ahead = new ReadAhead({ rows: 100, bytes: 1000 });
    const stuck = read(ahead, 1, 1);
    for (let n = 2; n <= 50; n++) expect(ahead.sent(read(ahead, n, 2))).toBeUndefined();
    const [early, late] = [read(ahead, 51, 1), read(ahead, 52, 1)];
    expect(ahead.sent(late)).toBeUndefined();
    expect(ahead.reads).toBe(2);
    expect(ahead.sent(stuck)).toEqual(position(50));
    expect(ahead.oldest).toBe('51');
    expect(ahead.sent(early)).toEqual(position(52));
    expect(ahead.reads).toBe(0);
  });

  it('is full by rows or by bytes', () => {
    const ahead = new ReadAhead({ rows: 5, bytes: 1000 });
    const list = read(ahead, 1, 5);
    expect(ahead.full).toBe(true);
    ahead.sent(list.slice(0, 1));
    expect(ahead.full).toBe(false);
    const bytes = new ReadAhead({ rows: 100, bytes: 30 });
    read(bytes, 1, 3);
    expect(bytes.full).toBe(true);
  });
});

describe('runs of a receipt', () => {
  const receipt = { topic: 't', partition: 0, baseOffset: 70n };
  const cut = (...seqs: number[]) =>
    toRuns(receipt, seqs.map(BigInt)).map((run) => [Number(run.baseOffset), run.seqs.map(Number)]);

  it('are ascending and narrow, so that a search is', () => {
    expect(cut(1, 2, 5)).toEqual([[70, [1, 2, 5]]]);
    expect(cut(10, 11, 3, 12)).toEqual([
      [70, [10, 11]],
      [72, [3, 12]],
    ]);
    const far = Number(RUN_SPAN) + 2;
    expect(cut(1, far)).toEqual([
      [70, [1]],
      [71, [far]],
    ]);
  });
});

describe('the pace of polling', () => {
  it('answers a wake-up after 2 ms when quiet and after 20 ms under load', () => {
    const pace = new Pace(0);
    expect(pace.gapMs).toBe(2);
    for (let now = 5; now < 3000; now += 5) pace.polled(100, now);
    expect(pace.gapMs).toBe(20);
  });

  it('polls every 10 ms while rows come, then more and more rarely', () => {
    const pace = new Pace(0);
    pace.polled(1, 10);
    expect(pace.idleMs(20)).toBeLessThanOrEqual(25);
    pace.polled(0, 1500);
    expect(pace.idleMs(1500)).toBeGreaterThan(25);
    expect(pace.idleMs(60_000)).toBe(500);
  });
});

describe('a pause that can be called off', () => {
  it('ends at a call, also one that came before it', async () => {
    const wakeable = new Wakeable();
    wakeable.wake();
    expect(await wakeable.wait(60_000)).toBe(true);
    const waiting = wakeable.wait(60_000);
    wakeable.wake();
    expect(await waiting).toBe(true);
    expect(await wakeable.wait(1)).toBe(false);
  });
});

describe('a time', () => {
  it('is written as RFC 3339 with milliseconds', () => {
    expect(rfc3339('2026-11-29 21:34:59.12+00')).toBe('2026-11-29T21:34:59.120Z');
    expect(rfc3339('2026-11-29 21:34:59.123+00')).toBe('2026-11-29T21:34:59.123Z');
    expect(rfc3339('2026-11-29 21:34:59+00')).toBe('2026-11-29T21:34:59.000Z');
  });
});
