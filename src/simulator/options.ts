import { parseArgs } from 'node:util';
import { PARTNER_ID_PATTERN } from '../contracts';
import { BEHAVIOURS, type Mix, parseRule, parseWeights } from './behaviour';

export interface SimulatorOptions {
  brokers: string[];
  partners: string[];
  group: string;
  mix: Mix;
  delayMs: number;
  slowMs: number;
  journal: string | undefined;
  tls: boolean;
  caFile: string | undefined;
  sasl: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string } | undefined;
}

export const HELP = `Plays a partner: reads orders.<partner>.request.v1 and answers on orders.<partner>.response.v1.

  node dist/src/simulator/main.js --brokers localhost:9092 --partner acme
  node dist/src/simulator/main.js --brokers localhost:9092 --partner acme --partner globex \\
       --behaviour accept=8,reject=1,change=1 --rule 'LATE-*=slow' --journal partner.jsonl
  SIMULATOR_SASL_PASSWORD=... node dist/src/simulator/main.js --brokers kafka:9094 --partner acme \\
       --ca ca.pem --sasl-mechanism scram-sha-512 --sasl-username acme

Options
  --brokers LIST          host:port, separated by commas (required)
  --partner ID            whom it plays; may be given several times (required)
  --group NAME            consumer group (default: <first partner>.simulator)
  --behaviour MIX         of ${BEHAVIOURS.join(', ')},
                          with weights; the order number's hash decides (default: accept)
  --rule PATTERN=WHAT     for order numbers like LATE-*; may be given several times, the first match wins
  --seed TEXT             another distribution of the mix over the same order numbers (default: empty)
  --delay-ms MS           how long it thinks before it answers (default: 0)
  --slow-ms MS            slow: from the acknowledgement to the acceptance (default: 2000)
  --journal FILE          append what it saw and answered, as JSON lines
  --tls                   TLS with the public authorities; --ca FILE: TLS with this one
  --sasl-mechanism NAME   plain, scram-sha-256 or scram-sha-512, with --sasl-username NAME and the
                          password in the environment variable SIMULATOR_SASL_PASSWORD
  --help                  this text
`;

const FLAGS = {
  brokers: { type: 'string' },
  partner: { type: 'string', multiple: true },
  group: { type: 'string' },
  behaviour: { type: 'string', default: 'accept' },
  rule: { type: 'string', multiple: true },
  seed: { type: 'string', default: '' },
  'delay-ms': { type: 'string', default: '0' },
  'slow-ms': { type: 'string', default: '2000' },
  journal: { type: 'string' },
  tls: { type: 'boolean', default: false },
  ca: { type: 'string' },
  'sasl-mechanism': { type: 'string' },
  'sasl-username': { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Everything that is wrong with the command line, so that it can be mended in one go. */
export class UsageError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`${faults.join('\n')}\nSee --help.`);
    this.name = 'UsageError';
  }
}

/** Reads the command line; undefined: help was asked for. Throws {@link UsageError}. */
export function parseOptions(args: readonly string[], env: NodeJS.ProcessEnv): SimulatorOptions | undefined {
  const values = readFlags(args);
  if (values.help) return undefined;
  const faults: string[] = [];
  /** The value that `read` makes, or a fault named after the flag. */
  function attempt<T>(flag: string, fallback: T, read: () => T): T {
    try {
      return read();
    } catch (error) {
      faults.push(`--${flag} ${(error as Error).message}.`);
      return fallback;
    }
  }
  const partners = values.partner ?? [];
  const options: SimulatorOptions = {
    brokers: attempt('brokers', [], () => hostPorts(values.brokers)),
    partners: attempt('partner', [], () => partners.map(partnerId)),
    group: values.group ?? `${partners[0]}.simulator`,
    mix: {
      rules: attempt('rule', [], () => (values.rule ?? []).map(parseRule)),
      weights: attempt('behaviour', [], () => parseWeights(values.behaviour)),
      seed: values.seed,
    },
    delayMs: attempt('delay-ms', 0, () => milliseconds(values['delay-ms'])),
    slowMs: attempt('slow-ms', 0, () => milliseconds(values['slow-ms'])),
    journal: values.journal,
    tls: values.tls || values.ca !== undefined,
    caFile: values.ca,
    sasl: attempt('sasl-mechanism', undefined, () =>
      account(values['sasl-mechanism'], values['sasl-username'], env['SIMULATOR_SASL_PASSWORD']),
    ),
  };
  if (partners.length === 0) faults.push('--partner is missing: whom does it play?');
  if (faults.length > 0) throw new UsageError(faults);
  return options;
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS }).values;
  } catch (error) {
    throw new UsageError([(error as Error).message]);
  }
}

function hostPorts(text = ''): string[] {
  const list = text.split(',').map((part) => part.trim());
  if (!list.every((part) => /^[^\s:,/]+:\d{1,5}$/.test(part))) {
    throw new RangeError('must be a list of host:port, separated by commas');
  }
  return list;
}

function partnerId(text: string): string {
  if (!new RegExp(PARTNER_ID_PATTERN).test(text))
    throw new RangeError(`"${text}" is no partner id (${PARTNER_ID_PATTERN})`);
  return text;
}

function milliseconds(text: string): number {
  if (!/^\d{1,8}$/.test(text)) throw new RangeError(`must be a whole number of milliseconds, not "${text}"`);
  return Number(text);
}

const MECHANISMS = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const;

function account(mechanism: string | undefined, username: string | undefined, password: string | undefined) {
  if (mechanism === undefined) return undefined;
  const known = Object.entries(MECHANISMS).find(([name]) => name === mechanism);
  if (!known) throw new RangeError(`knows ${Object.keys(MECHANISMS).join(', ')}; not "${mechanism}"`);
  if (!username || !password) throw new RangeError('needs --sasl-username and SIMULATOR_SASL_PASSWORD');
  return { mechanism: known[1], username, password };
}
