const NEEDS_ESCAPE = /["\\]/;

/**
 * A PostgreSQL array literal of texts, numbers, dates, bytes and nulls ("Array Input and Output Syntax"); undefined for what it
 * doesn't know, which is left to pg. pg's own runs two regular expressions an element and was the largest cost of a
 * set-based statement in this process.
 */
export function arrayLiteral(values: readonly unknown[]): string | undefined {
  let literal = '{';
  for (let i = 0; i < values.length; i++) {
    const element = elementOf(values[i]);
    if (element === undefined) return undefined;
    literal += i === 0 ? element : `,${element}`;
  }
  return `${literal}}`;
}

function elementOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'string') {
    return NEEDS_ESCAPE.test(value) ? `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"` : `"${value}"`;
  }
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`;
  return value instanceof Date ? `"${value.toISOString()}"` : undefined;
}
