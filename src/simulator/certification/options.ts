import { closeSync, openSync } from 'node:fs';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { type Format, FORMATS } from '../../contracts';
import {
  type Access,
  ACCESS_FLAGS,
  accessHelp,
  type AccessValues,
  formatOf,
  mechanismOf,
  partnerIdOf,
  readAccess,
  secretOf,
} from '../access';
import { TEST_ARTICLES } from '../articles';
import { Faults, milliseconds, UsageError, wholeNumber } from '../usage';
import type { Patience } from './stage';

export interface CertifyOptions {
  partner: string;
  /** What the partner speaks; undefined: whoever runs this knows it. */
  format: Format | undefined;
  /** How the company reaches the brokers; undefined: whoever runs this knows it. */
  access: Access | undefined;
  /** The partner's own account, in which what it may not do is tried. */
  partnerAccount: Access['account'];
  runs: number;
  patience: Patience;
  junit: string | undefined;
  ctrf: string | undefined;
  json: boolean;
  /** A consumer group that must not read the same topics meanwhile. */
  companyGroup: string | undefined;
  /** It may all the same. */
  isBeside: boolean;
}

export const CERTIFY_HELP = `Tries a partner's running system with a fixed list of scenarios: plays the company towards it.

The system knows by the first article of an order what it is to answer: ${TEST_ARTICLES.AP} with AP, ${TEST_ARTICLES.RE}
with RE, ${TEST_ARTICLES.CA} with CA; a cancellation as it likes. Order numbers begin with CERT-.

Options
  --format FORMAT         ${FORMATS.join(', ')}
  --runs N                as often; what passes in one and fails in another is shown (default: 1)
  --within-ms MS          for the final answer to an order (default: 10000)
  --connect-ms MS         for the first answer of all (default: 60000)
  --settle-ms MS          how long is waited for what must not come (default: 2000)
  --burst N               orders of the burst (default: 40)
  --partner-username NAME the partner's own account, with its password in PARTNER_PASSWORD or PARTNER_PASSWORD_FILE: what
                          it may not do is tried with it
  --company-group NAME    the consumer group of the company's own system: refuses while that reads the same topics
  --beside-company        does not refuse
  --junit FILE            JUnit XML; --ctrf FILE: Common Test Report Format
  --json                  the report as JSON in place of lines
Ends with 0 when nothing failed, 3 when something did, 1 when the system did not answer or nothing could be tried, 2 for a wrong option.
`;

export const CERTIFY_ACCESS_HELP = accessHelp('COMPANY_PASSWORD');

const FLAGS = {
  ...ACCESS_FLAGS,
  format: { type: 'string' },
  runs: { type: 'string', default: '1' },
  'within-ms': { type: 'string', default: '10000' },
  'connect-ms': { type: 'string' },
  'settle-ms': { type: 'string', default: '2000' },
  burst: { type: 'string', default: '40' },
  'partner-username': { type: 'string' },
  'company-group': { type: 'string' },
  'beside-company': { type: 'boolean', default: false },
  junit: { type: 'string' },
  ctrf: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/**
 * Reads the command line; undefined: help was asked for. Throws {@link UsageError}.
 * @param more flags of whoever runs this, whose values come back beside
 */
export function parseCertify(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  more: NonNullable<ParseArgsConfig['options']> = {},
): { options: CertifyOptions; values: Readonly<Record<string, string | boolean | undefined>> } | undefined {
  const { values, positionals } = readFlags(args, more);
  if (values.help) return undefined;
  const faults = new Faults();
  const { attempt } = faults;
  const [id = '', ...others] = positionals;
  if (id === '' || others.length > 0) faults.list.push('One partner is to be named: certify acme.');
  const whole = (flag: 'runs' | 'burst', most: number) => attempt(flag, 1, () => wholeNumber(values[flag], 1, most));
  const options: CertifyOptions = {
    partner: id === '' ? '' : attempt('partner', id, () => partnerIdOf(id)),
    format: attempt('format', undefined, () => formatOf(values.format)),
    access: values.brokers === undefined ? undefined : readAccess(values, env, 'COMPANY_PASSWORD', attempt),
    partnerAccount: attempt('partner-username', undefined, () => partnerAccount(values, env)),
    runs: whole('runs', 100),
    patience: {
      connectMs: attempt('connect-ms', 0, () => milliseconds(values['connect-ms'] ?? '60000')),
      withinMs: attempt('within-ms', 0, () => milliseconds(values['within-ms'])),
      settleMs: attempt('settle-ms', 0, () => milliseconds(values['settle-ms'])),
      burst: whole('burst', 1000),
    },
    junit: attempt('junit', undefined, () => writable(values.junit)),
    ctrf: attempt('ctrf', undefined, () => writable(values.ctrf)),
    json: values.json,
    ...{ companyGroup: values['company-group'], isBeside: values['beside-company'] },
  };
  faults.settle();
  return { options, values };
}

function readFlags(args: readonly string[], more: NonNullable<ParseArgsConfig['options']>) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...more, ...FLAGS },
      allowPositionals: true,
    });
    return { values, positionals };
  } catch (error) {
    throw new UsageError([(error as Error).message]);
  }
}

/** Asked before anything is tried: a run of minutes would else end without its report. */
function writable(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    closeSync(openSync(file, 'a'));
    return file;
  } catch (error) {
    const { code = 'unwritable' } = error as NodeJS.ErrnoException;
    throw new RangeError(`can't be written (${code}: ${file})`, { cause: error });
  }
}

function partnerAccount(
  values: AccessValues & { 'partner-username'?: string | undefined },
  env: NodeJS.ProcessEnv,
): Access['account'] {
  const username = values['partner-username'];
  if (username === undefined) return undefined;
  const credentials = () => ({ username, password: secretOf(env, 'PARTNER_PASSWORD') });
  credentials();
  return { mechanism: mechanismOf(values['sasl-mechanism']), credentials };
}
