import { parseArgs } from 'node:util';
import { type Format, FORMATS } from '../../contracts';
import { type Access, ACCESS_FLAGS, accessHelp, formatOf, partnerIdOf, readAccess } from '../access';
import { Faults, milliseconds, UsageError, wholeNumber } from '../usage';
import { PLAYS, type Play } from './plays';

export interface CompanyOptions {
  partner: string;
  format: Format;
  access: Access;
  play: Play;
  article: string | undefined;
  orders: number;
  /** Orders a second; 0: all at once. */
  rate: number;
  withinMs: number;
  /** Goes on answering advices until it is stopped. */
  stays: boolean;
  json: boolean;
}

export const COMPANY_HELP = `Plays the company towards a partner's system: writes orders and cancellations, reads and judges the answers, answers
despatch advices with receipts, and reports on errors.<partner>.v1 what it can't read or accept.

  simulate company acme --brokers localhost:9092 --format json --orders 3
  COMPANY_PASSWORD=... simulate company acme --brokers kafka:9094 --ca ca.pem --username company \\
       --registry https://registry.example --scenario cancel --orders 20 --rate 5

Options
  --format FORMAT         ${FORMATS.join(', ')} (default: avro)
  --orders N              how many (default: 1)
  --rate N                orders a second; 0: all at once (default: 1)
  --scenario NAME         ${Object.entries(PLAYS)
    .map(([name, { help }]) => `${name.padEnd(10)} ${help}`)
    .join('\n                          ')}
                          (default: accept)
  --article ITEM          the article of the orders, in place of the scenario's test article
  --within-ms MS          for the final answers, after the last request (default: 30000)
  --stay                  goes on when all is answered: for despatch advices
  --json                  each step as a JSON line
${accessHelp('COMPANY_PASSWORD')}Ends with 0 when everything was answered as agreed, 3 when some of it was, 1 when nothing was, 2 for a wrong option.
`;

const FLAGS = {
  ...ACCESS_FLAGS,
  format: { type: 'string', default: 'avro' },
  orders: { type: 'string', default: '1' },
  rate: { type: 'string', default: '1' },
  scenario: { type: 'string', default: 'accept' },
  article: { type: 'string' },
  'within-ms': { type: 'string', default: '30000' },
  stay: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line; undefined: help was asked for. Throws {@link UsageError}. */
export function parseCompany(args: readonly string[], env: NodeJS.ProcessEnv): CompanyOptions | undefined {
  const { values, positionals } = readFlags(args);
  if (values.help) return undefined;
  const faults = new Faults();
  const { attempt } = faults;
  const [id = '', ...others] = positionals;
  if (id === '' || others.length > 0) faults.list.push('One partner is to be named: simulate company acme.');
  const options: CompanyOptions = {
    partner: id === '' ? '' : attempt('partner', id, () => partnerIdOf(id)),
    format: attempt('format', undefined, () => formatOf(values.format)) ?? 'avro',
    access: readAccess(values, env, 'COMPANY_PASSWORD', attempt),
    play: attempt('scenario', 'accept', () => playOf(values.scenario)),
    article: attempt('article', undefined, () => articleOf(values.article)),
    orders: attempt('orders', 1, () => wholeNumber(values.orders, 1, 100_000)),
    rate: attempt('rate', 1, () => wholeNumber(values.rate, 0, 10_000)),
    withinMs: attempt('within-ms', 0, () => milliseconds(values['within-ms'])),
    stays: values.stay,
    json: values.json,
  };
  if (options.format !== 'json' && values.registry === undefined) {
    faults.list.push(`--registry is missing: ${id} speaks ${options.format}. Without a registry, say --format json.`);
  }
  faults.settle();
  return options;
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS, allowPositionals: true });
  } catch (error) {
    throw new UsageError([(error as Error).message]);
  }
}

function playOf(text: string): Play {
  if (Object.hasOwn(PLAYS, text)) return text as Play;
  throw new RangeError(`knows ${Object.keys(PLAYS).join(', ')}; not "${text}"`);
}

function articleOf(text: string | undefined): string | undefined {
  if (text === undefined || /^[^\p{C}]{1,64}$/u.test(text)) return text;
  throw new RangeError('must be 1 to 64 printable characters');
}
