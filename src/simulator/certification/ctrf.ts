import type { CertificationReport, Result, Verdict } from './suite';

/** Common Test Report Format, 1.0.0 (ctrf.io). */
export interface Ctrf {
  reportFormat: 'CTRF';
  specVersion: '1.0.0';
  timestamp: string;
  generatedBy: 'parley';
  results: {
    tool: { name: string; version: string };
    summary: Record<
      'tests' | 'passed' | 'failed' | 'skipped' | 'pending' | 'other' | 'flaky' | 'start' | 'stop',
      number
    >;
    tests: CtrfTest[];
    extra: { partner: string; format: string };
  };
}

interface CtrfTest {
  name: string;
  status: Verdict;
  duration: number;
  start: number;
  stop: number;
  suite: string[];
  message?: string;
  trace?: string;
  /** It passed in this run and failed in another. */
  flaky: boolean;
  extra: { expected: string; next?: string };
}

export function ctrfOf(report: CertificationReport): Ctrf {
  const { suite, partner, format, startedAt, finishedAt, flaky, results } = report;
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length;
  return {
    reportFormat: 'CTRF',
    specVersion: '1.0.0',
    timestamp: finishedAt,
    generatedBy: 'parley',
    results: {
      tool: { name: 'parley certify', version: suite },
      summary: {
        tests: results.length,
        ...{ passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
        ...{ pending: 0, other: 0, flaky: flaky.length },
        ...{ start: Date.parse(startedAt), stop: Date.parse(finishedAt) },
      },
      tests: results.map((result) => testOf(result, report)),
      extra: { partner, format },
    },
  };
}

function testOf(result: Result, { suite, partner, flaky }: CertificationReport): CtrfTest {
  const { name, title, expected, verdict, seen, reason, next, run, startedAt, durationMs } = result;
  const start = Date.parse(startedAt);
  const message = reason ?? (verdict === 'failed' ? seen.at(-1) : undefined);
  return {
    name: `${name}: ${title}`,
    ...{ status: verdict, duration: durationMs, start, stop: start + durationMs },
    suite: [suite, partner, `run ${run}`],
    ...(message === undefined ? {} : { message }),
    ...(verdict === 'failed' ? { trace: seen.join('\n') } : {}),
    flaky: verdict === 'passed' && flaky.includes(name),
    extra: { expected, ...(next === undefined ? {} : { next }) },
  };
}
