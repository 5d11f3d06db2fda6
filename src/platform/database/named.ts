/**
 * Named parameters for raw SQL: `:name` becomes `$n`, each name once. `::cast` stays. Values are passed by position,
 * so nothing is ever written into the text.
 */
export function named(sql: string, values: Record<string, unknown>): [text: string, parameters: unknown[]] {
  const names: string[] = [];
  const text = sql.replace(/(?<!:):([a-z][a-zA-Z0-9_]*)/g, (_, name: string) => {
    if (!(name in values)) throw new Error(`no value for :${name}`);
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return [text, names.map((name) => values[name])];
}
