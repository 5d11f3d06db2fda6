import type { CertificationReport, Result } from './suite';

/** JUnit XML as build servers read it: a suite for each run, a case for each scenario. */
export function junitOf(report: CertificationReport): string {
  const runs = Map.groupBy(report.results, ({ run }) => run);
  const suites = [...runs].map(([run, results]) => suiteOf(report, run, results));
  const total = figuresOf(report.results);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${escaped(report.suite)}" ${total}>\n${suites.join('')}</testsuites>\n`;
}

function suiteOf({ suite, partner }: CertificationReport, run: number, results: readonly Result[]): string {
  const name = escaped(`${partner} run ${run}`);
  const at = escaped(results[0]?.startedAt ?? '');
  const cases = results.map((result) => caseOf(suite, result)).join('');
  return `  <testsuite name="${name}" timestamp="${at}" ${figuresOf(results)}>\n${cases}  </testsuite>\n`;
}

function caseOf(suite: string, { name, title, expected, verdict, seen, reason, next, durationMs }: Result): string {
  const head = `    <testcase classname="${escaped(suite)}" name="${escaped(`${name}: ${title}`)}" time="${seconds(durationMs)}"`;
  if (verdict === 'passed') return `${head}/>\n`;
  if (verdict === 'skipped') return `${head}>\n      <skipped message="${escaped(reason ?? '')}"/>\n    </testcase>\n`;
  const body = [`expected: ${expected}`, ...seen.map((words) => `seen: ${words}`), `next: ${next ?? ''}`].join('\n');
  const message = escaped(seen[0] ?? expected);
  return `${head}>\n      <failure message="${message}">${escaped(body)}</failure>\n    </testcase>\n`;
}

function figuresOf(results: readonly Result[]): string {
  const count = (verdict: string) => results.filter((result) => result.verdict === verdict).length;
  const time = seconds(results.reduce((sum, { durationMs }) => sum + durationMs, 0));
  return `tests="${results.length}" failures="${count('failed')}" errors="0" skipped="${count('skipped')}" time="${time}"`;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

/** Signs that XML 1.0 has no place for become a question mark. */
const escaped = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\n]|\p{Cs}|[\ufffe\uffff]/gu, '?').replaceAll(/[&<>"\n]/g, (sign) => ENTITIES[sign] ?? '');
