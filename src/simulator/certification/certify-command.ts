import { writeFileSync } from 'node:fs';
import type { Format } from '../../contracts';
import type { Access } from '../access';
import { brokerWords } from '../broker-error';
import type { Terminal } from '../terminal';
import { UsageError } from '../usage';
import { certify } from './certify';
import { ctrfOf } from './ctrf';
import { junitOf } from './junit';
import { CERTIFY_ACCESS_HELP, CERTIFY_HELP, type CertifyOptions, parseCertify } from './options';
import { topicsReadBy } from './readers';
import { resultLines, summaryLines } from './report-text';
import type { Sandbox } from './stage';
import { type CertificationReport, exitCodeOf } from './suite';

/** Whoever runs it: where its brokers are, and what it knows of the partner. */
export interface CertifyPlace {
  access: Access;
  format: Format;
  sandbox?: Sandbox | undefined;
}

/** Runs what the options ask for and tells of it. Rejects with {@link UsageError} where it must not be run. */
export async function runCertification(
  options: CertifyOptions,
  { access, format, sandbox }: CertifyPlace,
  { out, say }: Pick<Terminal, 'out' | 'say'>,
): Promise<{ report: CertificationReport; exitCode: number }> {
  const { partner, partnerAccount, runs, patience, companyGroup, isBeside, json } = options;
  const others = companyGroup === undefined ? [] : await readBy(access, companyGroup, options, say);
  if (others && others.length > 0 && !isBeside)
    throw new UsageError([besideCompany(companyGroup ?? '', partner, others)]);
  const settings = {
    ...access,
    ...{ party: { id: partner, format }, runs, patience, sandbox, isAlone: others?.length === 0 },
    partnerAccess: partnerAccount && { ...access, account: partnerAccount },
  };
  const lines = (texts: readonly string[]) => out(texts.map((text) => `${text}\n`).join(''));
  const report = await certify(settings, {
    onResult: (result) => (json ? undefined : lines(resultLines(result))),
    log: say,
  });
  if (options.junit !== undefined) writeFileSync(options.junit, junitOf(report));
  if (options.ctrf !== undefined) writeFileSync(options.ctrf, `${JSON.stringify(ctrfOf(report), null, 2)}\n`);
  if (json) lines([JSON.stringify(report)]);
  else lines(summaryLines(report));
  return { report, exitCode: exitCodeOf(report) };
}

/** Undefined: not known, which is no leave: only who goes on beside the company goes on then. */
async function readBy(
  access: Access,
  group: string,
  { partner, isBeside }: CertifyOptions,
  say: (line: string) => void,
): Promise<string[] | undefined> {
  try {
    return await topicsReadBy(access, group, partner);
  } catch (error) {
    const unknown = `Whether the group ${group} reads the topics of ${partner} is not known: ${brokerWords(error)}.`;
    if (!isBeside) throw new UsageError([`${unknown}\nMend that, or go on all the same with --beside-company.`]);
    say(unknown);
    return undefined;
  }
}

const besideCompany = (group: string, partner: string, topics: readonly string[]): string =>
  [
    `The company's own group ${group} reads ${topics.join(' and ')}: it would take the answers of the certification for answers to requests that it never made, set each aside as a dead letter and report it to ${partner}.`,
    `Certify where nobody else reads: a test partner's topics (${partner}-test, onboarded at the broker alone), or a sandbox of your own.`,
    'With --beside-company it is done all the same: the answers are then dead letters with the code exchange-unknown, which change no order and can be discarded.',
  ].join('\n');

/** The form that needs nothing but the flags: what the partner's kit has. */
export async function certifyCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseCertify(args, terminal.env);
  if (!parsed) {
    terminal.out(`${CERTIFY_HELP}${CERTIFY_ACCESS_HELP}`);
    return 0;
  }
  const { access, format = 'avro' } = parsed.options;
  if (!access) throw new UsageError(['--brokers is missing: where is the system to be met?']);
  if (format !== 'json' && !access.registry) {
    throw new UsageError([`--registry is missing: ${parsed.options.partner} speaks ${format}.`]);
  }
  const { exitCode } = await runCertification(parsed.options, { access, format }, terminal);
  return exitCode;
}
