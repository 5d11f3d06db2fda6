import { Lru } from '../../../../src/messaging/registry/lru';

describe('what is kept in memory', () => {
  it('forgets what was used longest ago', () => {
    const kept = new Lru<string, number>(2);
    kept.set('a', 1);
    kept.set('b', 2);
    kept.get('a');
    kept.set('c', 3);
    expect(['a', 'b', 'c'].map((key) => kept.get(key))).toEqual([1, undefined, 3]);
  });

  it('is bounded by the weight of its values, also after they were replaced or deleted', () => {
    const kept = new Lru<string, string>(10, (value) => value.length);
    kept.set('a', '12345');
    kept.set('a', '123456');
    kept.set('b', '1234');
    expect([kept.has('a'), kept.has('b')]).toEqual([true, true]);
    kept.delete('a');
    kept.set('c', '123456');
    expect([kept.has('b'), kept.has('c')]).toEqual([true, true]);
    kept.set('d', '1');
    expect([kept.has('b'), kept.has('c'), kept.has('d')]).toEqual([false, true, true]);
    kept.set('e', '12345678901');
    expect(['b', 'c', 'd', 'e'].some((key) => kept.has(key))).toBe(false);
  });
});
