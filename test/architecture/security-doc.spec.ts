import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TESTS = join(__dirname, '..');
const text = readFileSync(join(TESTS, '..', 'docs', 'security.md'), 'utf8');

/** Rows of the threat table: threat, what stops it, tests. */
const rows = text
  .slice(text.indexOf('\n## Threats'))
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()));
const specsIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, spec]) => spec ?? '');

describe('the threat table', () => {
  it('has three filled cells in every line', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter((cells) => cells.length !== 5 || cells.slice(1, 4).includes(''))).toEqual([]);
  });

  it.each(rows.map(([, threat, , tests]) => [threat, specsIn(tests)] as const))('%s: its tests exist', (_, specs) => {
    expect(specs).not.toEqual([]);
    expect(specs.filter((spec) => !spec.endsWith('.spec.ts') || !existsSync(join(TESTS, spec)))).toEqual([]);
  });
});
