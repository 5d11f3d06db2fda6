import { randomBytes } from 'node:crypto';
import type { Access } from '../access';
import { brokerWords } from '../broker-error';
import { CompanyDesk, type DeskSettings } from '../company/company-desk';
import { SCENARIOS } from './scenarios';
import type { Patience, Sandbox, Scenario, Stage } from './stage';
import { type CertificationReport, failed, type Outcome, reportFrom, type Result, skipped } from './suite';

export interface CertifySettings extends DeskSettings {
  patience: Patience;
  runs: number;
  /** The partner's own account: what that may not do is tried with it. */
  partnerAccess?: Access | undefined;
  sandbox?: Sandbox | undefined;
}

export interface CertifyEvents {
  onResult: (result: Result) => void;
  log: (line: string) => void;
}

/**
 * Plays the list of scenarios against the partner's running system, as often as was asked. Total: whatever fails is a result.
 */
export async function certify(settings: CertifySettings, events: CertifyEvents): Promise<CertificationReport> {
  const { party, runs, patience, partnerAccess, sandbox } = settings;
  const startedAt = new Date().toISOString();
  const results: Result[] = [];
  for (let run = 1; run <= runs; run++) {
    // Each has its own memory and connections: what the first left behind must not count in the second.
    const desk = new CompanyDesk(settings, { log: events.log });
    const stage: Stage = { desk, patience, partnerAccess, sandbox, run: nameOfRun() };
    try {
      await playAll(stage, run, (result) => {
        results.push(result);
        events.onResult(result);
      });
    } finally {
      await desk.close();
    }
  }
  const finishedAt = new Date().toISOString();
  return reportFrom({ partner: party.id, format: party.format, startedAt, finishedAt, runs }, results);
}

/** Letters and digits that no earlier run has had: order numbers are never used twice. */
const nameOfRun = (): string => randomBytes(5).toString('hex').toUpperCase();

async function playAll(stage: Stage, run: number, onResult: (result: Result) => void): Promise<void> {
  let isAnswering = true;
  for (const scenario of SCENARIOS) {
    const needsAnswers = scenario.name !== 'connect' && scenario.name !== 'acl';
    const result =
      needsAnswers && !isAnswering
        ? resultOf(scenario, stage, run, new Date(), skipped('the system did not answer the first order'))
        : await play(scenario, stage, run);
    if (scenario.name === 'connect' && result.verdict === 'failed') isAnswering = false;
    onResult(result);
  }
}

async function play(scenario: Scenario, stage: Stage, run: number): Promise<Result> {
  const startedAt = new Date();
  try {
    return resultOf(scenario, stage, run, startedAt, await scenario.play(stage));
  } catch (error) {
    return resultOf(
      scenario,
      stage,
      run,
      startedAt,
      failed([`it could not be tried: ${brokerWords(error)}`], 'Mend that, then certify again.'),
    );
  }
}

function resultOf(
  { name, title, expected }: Scenario,
  { patience }: Stage,
  run: number,
  startedAt: Date,
  outcome: Outcome,
): Result {
  const durationMs = Date.now() - startedAt.getTime();
  return { name, title, expected: expected(patience), run, startedAt: startedAt.toISOString(), durationMs, ...outcome };
}
