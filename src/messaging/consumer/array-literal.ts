/**
 * PostgreSQL array literals. pg writes its own by two regular expressions an element, which was the largest single cost
 * of a batch; numbers, hex and nearly all ids need no quoting work.
 */
export function numbersLiteral(values: readonly (number | bigint)[]): string {
  return `{${values.join(',')}}`;
}

/** Elements in quotes; those that need it are escaped (PostgreSQL, "Array Input and Output Syntax"). */
export function textsLiteral(values: readonly string[]): string {
  if (values.length === 0) return '{}';
  return `{"${values.map((value) => (NEEDS_ESCAPE.test(value) ? value.replace(/["\\]/g, '\\$&') : value)).join('","')}"}`;
}

const NEEDS_ESCAPE = /["\\]/;
