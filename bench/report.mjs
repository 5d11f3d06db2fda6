import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { POSTGRES_SETTINGS } from './servers.mjs';

/** What the numbers were measured on. */
export function machine() {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform}/${process.arch}`,
    node: process.version,
    parley: version,
    postgresSettings: { fsync: 'on', synchronous_commit: 'on', ...POSTGRES_SETTINGS },
  };
}

const number = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value >= 10 ? value.toFixed(1) : value.toFixed(2);

/**
 * What a benchmark reports: `{ name, value, unit, ratio?, ratioTo?, aim?, lower?, note? }`. The aim is held against the ratio
 * where there is one, else against the value; `lower`: less is better.
 */
export function judge(row) {
  if (row.aim === undefined) return { ...row, verdict: '' };
  const measured = row.ratio ?? row.value;
  return { ...row, verdict: (row.lower ? measured <= row.aim : measured >= row.aim) ? 'ok' : 'short' };
}

const aimText = ({ aim, ratio, lower }) =>
  aim === undefined ? '' : `${lower ? '≤' : '≥'} ${aim.toLocaleString('en')}${ratio === undefined ? '' : '×'}`;

const cells = (row) => [
  row.name,
  `${number(row.value)} ${row.unit}`,
  row.ratio === undefined ? '' : `${row.ratio.toFixed(2)}× ${row.ratioTo}`,
  aimText(row),
  row.verdict,
];

const HEAD = ['measured', 'value', 'ratio', 'aim', ''];

/** One benchmark as a table of Markdown, which a terminal shows as well. */
export function table(title, rows) {
  const lines = [HEAD, ...rows.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const line = (texts) => `| ${texts.map((text, column) => text.padEnd(widths[column])).join(' | ')} |`;
  const [head, ...body] = lines.map(line);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const notes = rows.filter((row) => row.note).map((row) => `- ${row.name}: ${row.note}`);
  return [`### ${title}`, '', head, rule, ...body, ...(notes.length > 0 ? ['', ...notes] : []), ''].join('\n');
}

export function writeJson(file, result) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
}
