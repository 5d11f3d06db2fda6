import { step } from '../../platform/json';

interface Line {
  text: string;
  /** JSON Pointer to what begins on this line; undefined: something ends. */
  at?: string;
}

/**
 * A document as indented JSON; the line that `pointer` leads to is marked with `>`, and where there is nothing (a member that is
 * missing), the one that it would stand in.
 */
export function documentLines(document: unknown, pointer: string | null): string[] {
  const lines = linesOf(document, '', '', '');
  const marked = pointer === null ? -1 : markedLine(lines, pointer);
  return lines.map(({ text }, n) => `${n === marked ? '>' : ' '} ${text}`);
}

function markedLine(lines: readonly Line[], pointer: string): number {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const found = lines.findIndex((line) => line.at === at);
    if (found >= 0 || at === '') return found;
  }
}

function linesOf(value: unknown, at: string, indent: string, name: string): Line[] {
  const begin = `${indent}${name}`;
  if (typeof value !== 'object' || value === null) return [{ text: `${begin}${JSON.stringify(value)}`, at }];
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const members = Object.entries(value);
  if (members.length === 0) return [{ text: `${begin}${open}${close}`, at }];
  const inner = members.flatMap(([member, item], n) => {
    const title = Array.isArray(value) ? '' : `${JSON.stringify(member)}: `;
    const lines = linesOf(item, step(at, member), `${indent}  `, title);
    const last = lines.at(-1);
    if (last && n < members.length - 1) last.text += ',';
    return lines;
  });
  return [{ text: `${begin}${open}`, at }, ...inner, { text: `${indent}${close}` }];
}
