import { oneLine } from '../output';

export interface Column<T> {
  title: string;
  /** A cell's text; null and undefined are shown as `-`. */
  of: (row: T) => string | number | null | undefined;
  /** Widest that it gets on a terminal; longer texts end with `…`. Default: as wide as its widest text. */
  most?: number;
}

const GAP = '  ';
const WIDE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u;
const NONE = /\p{M}/u;

/** Columns that a text takes on a terminal: those of East Asia and emoji take two, marks on a letter none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const sign of text) width += WIDE.test(sign) ? 2 : NONE.test(sign) ? 0 : 1;
  return width;
}

/** The text, or its beginning and `…`, in at most `width` columns. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [kept, taken] = ['', 0];
  for (const sign of text) {
    taken += widthOf(sign);
    if (taken > width - 1) break;
    kept += sign;
  }
  return `${kept}…`;
}

/** Width of standard output; undefined where it is no terminal, and nothing may be cut: a program reads it. */
const terminalWidth = (): number | undefined => (process.stdout.isTTY ? process.stdout.columns : undefined);

/** Lines of a table, its titles first; none without rows. Texts of partners can't draw on the terminal. */
export function table<T>(columns: readonly Column<T>[], rows: readonly T[], width = terminalWidth()): string[] {
  if (rows.length === 0) return [];
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ of, most }) => cellOf(of(row), width === undefined ? Infinity : most))),
  ];
  const widths = columns.map((_, n) => Math.max(...cells.map((line) => widthOf(line[n] ?? ''))));
  return cells.map((line) => {
    const padded = line.map((cell, n) => cell + ' '.repeat((widths[n] ?? 0) - widthOf(cell)));
    return cut(padded.join(GAP).trimEnd(), width ?? Infinity);
  });
}

function cellOf(value: string | number | null | undefined, most = Infinity): string {
  const text = value === null || value === undefined || value === '' ? '-' : String(value);
  return cut(oneLine(text).replaceAll('\t', ' '), most);
}

/** `name: value` lines, aligned; what has no value is left out. */
export function facts(rows: readonly (readonly [name: string, value: string | number | null | undefined])[]): string[] {
  const told = rows.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(0, ...told.map(([name]) => name.length));
  return told.map(([name, value]) => `${name.padEnd(width)}${GAP}${value}`);
}
