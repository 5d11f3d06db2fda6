import { addressName, TokenBuckets } from '../../../../src/platform/http';

describe('a limit for each of many', () => {
  it('lets so many through at once, and then so many a second', () => {
    let now = 0;
    const buckets = new TokenBuckets(10, 20, () => now);
    const taken = (times: number) =>
      Array.from({ length: times }, () => buckets.take('a')).filter((wait) => wait === undefined);
    expect(taken(50)).toHaveLength(20);
    now += 1000;
    expect(taken(50)).toHaveLength(10);
    now += 3_600_000;
    expect(taken(50)).toHaveLength(20);
    expect(buckets.take('b')).toBeUndefined();
  });

  it('says when to come back, in whole seconds', () => {
    const buckets = new TokenBuckets(1 / 30, 1, () => 0);
    expect([buckets.take('a'), buckets.take('a')]).toEqual([undefined, 30]);
    const fast = new TokenBuckets(1000, 1, () => 0);
    expect([fast.take('a'), fast.take('a')]).toEqual([undefined, 1]);
  });

  it('takes bounded memory, however many come, and keeps who comes often', () => {
    let now = 0;
    const buckets = new TokenBuckets(0.001, 2, () => now);
    for (let stranger = 0; stranger < 100_000; stranger++) {
      now++;
      buckets.take(`stranger ${stranger}`);
      if (stranger % 1000 === 0) buckets.take('regular');
    }
    expect(buckets.size).toBeLessThanOrEqual(20_001);
    expect(buckets.take('regular')).toBeGreaterThan(0);
  });
});

describe('the name of an address', () => {
  it.each([
    ['10.0.0.7', '10.0.0.7'],
    ['::ffff:10.0.0.7', '10.0.0.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:1:2::9', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['10.0.0.7:50123', '10.0.0.7'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2'],
    ['_hidden:1', 'unknown'],
    ['', 'unknown'],
  ])('of %s is %s: whoever has a /64 has one name', (address, name) => expect(addressName(address)).toBe(name));
});
