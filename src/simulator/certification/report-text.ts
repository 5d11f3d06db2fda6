import { printable } from '../terminal';
import type { CertificationReport, Result, Verdict } from './suite';

const MARKS: Readonly<Record<Verdict, string>> = { passed: 'pass', failed: 'FAIL', skipped: 'skip' };

/** One scenario, as soon as it is over. */
export function resultLines({ name, title, expected, verdict, seen, reason, next, durationMs }: Result): string[] {
  const lines = [`${MARKS[verdict]}  ${name.padEnd(22)} ${title} (${durationMs} ms)`];
  if (verdict === 'passed') return lines;
  if (verdict === 'failed')
    lines.push(`      expected  ${expected}`, ...seen.map((words) => `      seen      ${printable(words)}`));
  if (reason !== undefined) lines.push(`      because   ${reason}`);
  if (next !== undefined) lines.push(`      next      ${next}`);
  return lines;
}

export function summaryLines({ suite, partner, passed, flaky, results, runs }: CertificationReport): string[] {
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length;
  const counts = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
  const times = runs === 1 ? '' : ` in ${runs} runs`;
  return [
    `${partner} ${passed ? 'passes' : 'does not pass'} ${suite}: ${counts}${times}`,
    ...(flaky.length > 0 ? [`passed in one run and failed in another: ${flaky.join(', ')}`] : []),
  ];
}
