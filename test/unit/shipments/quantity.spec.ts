import fc from 'fast-check';
import { decimalOf, millionthsOf } from '../../../src/shipments/domain/quantity';

const decimals = fc
  .tuple(fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }), fc.stringMatching(/^[0-9]{0,6}$/))
  .map(([whole, fraction]) => `${whole}${fraction === '' ? '' : `.${fraction}`}`);

describe('a quantity in millionths', () => {
  it.each([
    ['0', 0n, '0'],
    ['12.5', 12_500_000n, '12.5'],
    ['12.50', 12_500_000n, '12.5'],
    ['0.000001', 1n, '0.000001'],
    ['0.1', 100_000n, '0.1'],
    ['999999999999999999.999999', 999_999_999_999_999_999_999_999n, '999999999999999999.999999'],
  ])('is exact: %s', (decimal, millionths, shortest) => {
    expect(millionthsOf(decimal)).toBe(millionths);
    expect(decimalOf(millionths)).toBe(shortest);
  });

  it('comes back as the decimal that it was, but for zeros at the end', () => {
    fc.assert(
      fc.property(decimals, (decimal) => {
        const shortest = decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
        expect(decimalOf(millionthsOf(decimal))).toBe(shortest);
      }),
    );
  });

  it('adds up where floats do not', () => {
    expect(decimalOf(millionthsOf('0.1') + millionthsOf('0.2'))).toBe('0.3');
    expect(decimalOf(millionthsOf('9007199254740993') + millionthsOf('0.000001'))).toBe('9007199254740993.000001');
  });
});
