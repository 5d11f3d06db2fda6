/** Name and version of the list of scenarios. A change of what is asked is another version. */
export const SUITE = 'parley-certification-1';

export type Verdict = 'passed' | 'failed' | 'skipped';

/** What a scenario came to. */
export interface Outcome {
  verdict: Verdict;
  /** What happened, in words for the partner's developer; no content of documents beside names of ours. */
  seen: readonly string[];
  /** Why it was skipped. */
  reason?: string;
  /** What to do about it, one sentence. */
  next?: string;
}

export interface Result extends Outcome {
  name: string;
  title: string;
  expected: string;
  /** From 1. */
  run: number;
  /** RFC 3339 */
  startedAt: string;
  durationMs: number;
}

export interface CertificationReport {
  suite: string;
  partner: string;
  format: string;
  /** RFC 3339 */
  startedAt: string;
  finishedAt: string;
  runs: number;
  /** Nothing failed, in any run. */
  passed: boolean;
  /** Scenarios that passed in one run and failed in another. */
  flaky: readonly string[];
  results: readonly Result[];
}

export const passed = (...seen: string[]): Outcome => ({ verdict: 'passed', seen });
export const failed = (seen: readonly string[], next: string): Outcome => ({ verdict: 'failed', seen, next });
export const skipped = (reason: string, next?: string): Outcome => ({
  ...{ verdict: 'skipped', seen: [], reason },
  ...(next === undefined ? {} : { next }),
});

export function reportFrom(
  header: Pick<CertificationReport, 'partner' | 'format' | 'startedAt' | 'finishedAt' | 'runs'>,
  results: readonly Result[],
): CertificationReport {
  const byName = Map.groupBy(results, ({ name }) => name);
  const flaky = [...byName].flatMap(([name, own]) =>
    own.some(({ verdict }) => verdict === 'passed') && own.some(({ verdict }) => verdict === 'failed') ? [name] : [],
  );
  const isPassed = results.length > 0 && results.every(({ verdict }) => verdict !== 'failed');
  return { suite: SUITE, ...header, passed: isPassed, flaky, results };
}

/** 0 passed · 1 the system did not answer at all · 3 some scenarios failed. */
export function exitCodeOf({ passed: isPassed, results }: CertificationReport): 0 | 1 | 3 {
  if (isPassed) return 0;
  return results.some(({ name, verdict }) => name !== 'acl' && verdict === 'passed') ? 3 : 1;
}
