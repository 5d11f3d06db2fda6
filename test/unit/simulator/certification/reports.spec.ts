import { ctrfOf } from '../../../../src/simulator/certification/ctrf';
import { junitOf } from '../../../../src/simulator/certification/junit';
import { resultLines, summaryLines } from '../../../../src/simulator/certification/report-text';
import {
  exitCodeOf,
  failed,
  type Outcome,
  passed,
  reportFrom,
  type Result,
  skipped,
} from '../../../../src/simulator/certification/suite';

const header = {
  ...{ partner: 'acme', format: 'avro', runs: 2 },
  ...{ startedAt: '2026-01-02T03:04:05.000Z', finishedAt: '2026-01-02T03:04:15.000Z' },
};
const result = (name: string, run: number, outcome: Outcome): Result => ({
  ...{ name, title: `Title of ${name}`, expected: 'an <answer> & no "more"', run, durationMs: 1_500 },
  startedAt: '2026-01-02T03:04:06.000Z',
  ...outcome,
});
const bad = failed(['A-1: no answer', 'at \u0007 <place>'], 'Answer it.');
const results = [
  result('connect', 1, passed('A-1: AP after 3 ms')),
  result('acl', 1, skipped('not given', 'Give it.')),
  result('accept', 1, passed()),
  result('connect', 2, passed()),
  result('acl', 2, skipped('not given')),
  result('accept', 2, bad),
];
const report = reportFrom(header, results);

describe('a report', () => {
  it('passes when nothing failed, and calls flaky what did once', () => {
    expect(report).toMatchObject({ passed: false, flaky: ['accept'] });
    expect(reportFrom(header, results.slice(0, 3))).toMatchObject({ passed: true, flaky: [] });
    expect(reportFrom(header, [])).toMatchObject({ passed: false });
  });

  it('ends with 0, with 3 when some of it failed, with 1 when the system does not answer', () => {
    expect(exitCodeOf(reportFrom(header, results.slice(0, 3)))).toBe(0);
    expect(exitCodeOf(report)).toBe(3);
    const silent = [result('connect', 1, bad), result('acl', 1, passed()), result('accept', 1, skipped('no'))];
    expect(exitCodeOf(reportFrom(header, silent))).toBe(1);
  });

  it('is read on a terminal: of what passed one line, of what failed what was expected, seen, and is to be done', () => {
    expect(resultLines(results[0] as Result)).toEqual(['pass  connect                Title of connect (1500 ms)']);
    expect(resultLines(result('accept', 2, bad)).slice(1)).toEqual([
      '      expected  an <answer> & no "more"',
      '      seen      A-1: no answer',
      '      seen      at \u0007 <place>'.replace('\u0007', '?'),
      '      next      Answer it.',
    ]);
    expect(summaryLines(report)).toEqual([
      'acme does not pass parley-certification-1: 3 passed, 1 failed, 2 skipped in 2 runs',
      'passed in one run and failed in another: accept',
    ]);
  });

  it('is JUnit: a suite a run, with nothing in it that XML has no place for', () => {
    const xml = junitOf(report);
    expect(xml).toContain(
      '<testsuites name="parley-certification-1" tests="6" failures="1" errors="0" skipped="2" time="9.000">',
    );
    expect(xml.match(/<testsuite /g)).toHaveLength(2);
    expect(xml.match(/<testcase /g)).toHaveLength(6);
    expect(xml).toContain('<skipped message="not given"/>');
    expect(xml).toContain('expected: an &lt;answer&gt; &amp; no &quot;more&quot;&#10;seen: A-1: no answer');
    expect(xml).not.toContain('\u0007');
  });

  it('is CTRF: every member that its schema requires, and each status one that it knows', () => {
    const { reportFormat, specVersion, results: own } = ctrfOf(report);
    expect({ reportFormat, specVersion }).toEqual({ reportFormat: 'CTRF', specVersion: '1.0.0' });
    expect(own.summary).toEqual({
      ...{ tests: 6, passed: 3, failed: 1, skipped: 2, pending: 0, other: 0, flaky: 1 },
      ...{ start: Date.parse(header.startedAt), stop: Date.parse(header.finishedAt) },
    });
    expect(own.tests.map(({ status }) => status)).toEqual(results.map(({ verdict }) => verdict));
    expect(own.tests[2]).toMatchObject({ name: 'accept: Title of accept', duration: 1_500, flaky: true });
    expect(own.tests[5]).toMatchObject({ message: expect.stringContaining('place') as string, flaky: false });
  });
});
