/** Digits behind the point that a decimal of our documents has at most (`DECIMAL_PATTERN`). */
const SCALE = 6;

/** A decimal in millionths: exact, where a float is not. */
export function millionthsOf(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(SCALE, '0'));
}

/** The shortest decimal of that many millionths. */
export function decimalOf(millionths: bigint): string {
  const digits = String(millionths).padStart(SCALE + 1, '0');
  const fraction = digits.slice(-SCALE).replace(/0+$/, '');
  return digits.slice(0, -SCALE) + (fraction === '' ? '' : `.${fraction}`);
}
