import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Values by name. A line that names one which is not there (undefined) is left out. */
export type Values = Readonly<Record<string, string | undefined>>;

const FILES = join(__dirname, 'files');
const NAME = /\{\{(\w+)\}\}/g;
/** What stands between two lines, and the empty line behind each of the two where there is one. */
const SECTION = /^.*\{\{#(\w+)\}\}.*\n\n?([^]*?)^.*\{\{\/\1\}\}.*(?:\n|$)\n?/gm;

/** A file of the kit as it stands beside this one. */
export const textOf = (name: string): string => readFileSync(join(FILES, name), 'utf8');

/**
 * Puts values in the place of `{{name}}`. Lines between one with `{{#name}}` and one with `{{/name}}` are there where the name's value is;
 * the two themselves never are. Throws for a name that nobody knows.
 */
export function filled(template: string, values: Values): Buffer {
  const isThere = (line: string) =>
    [...line.matchAll(NAME)].every(([, name = '']) => known(name, values) !== undefined);
  const chosen = template.replaceAll(SECTION, (_, name: string, lines: string) =>
    known(name, values) === undefined ? '' : lines,
  );
  const lines = chosen.split('\n').filter(isThere);
  return Buffer.from(lines.join('\n').replaceAll(NAME, (_, name: string) => known(name, values) ?? ''));
}

function known(name: string, values: Values): string | undefined {
  if (Object.hasOwn(values, name)) return values[name];
  throw new RangeError(`no value is called ${name}`);
}
