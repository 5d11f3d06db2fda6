import { named } from '../../../src/platform/database/named';

describe('named parameters', () => {
  it('become positions, each name once, casts untouched', () => {
    expect(named('SELECT :a::int, :b, :a', { a: 1, b: 2 })).toEqual(['SELECT $1::int, $2, $1', [1, 2]]);
  });

  it('refuse a name without a value', () => {
    expect(() => named('SELECT :missing', {})).toThrow(':missing');
  });
});
