import { parseArgs } from 'node:util';
import { FORMATS, PARTNER_ID_PATTERN } from '../contracts';
import type { RegistrySettings } from '../messaging/registry';
import { BEHAVIOURS, parseRule, parseWeights, WISHES } from './behaviour';
import type { Manners } from './desk';
import type { Party } from './message';

export interface SimulatorOptions extends Manners {
  brokers: string[];
  group: string;
  /** Where the schemas are; needed unless every partner speaks json. */
  registry: RegistrySettings | undefined;
  journal: string | undefined;
  tls: boolean;
  caFile: string | undefined;
  sasl: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string } | undefined;
}

export const HELP = `Plays a partner: answers orders and cancellations, despatches, and reads receipts and error reports.

  node dist/src/simulator/main.js --brokers localhost:9092 --partner acme=json
  node dist/src/simulator/main.js --brokers localhost:9092 --registry http://localhost:8081/apis/ccompat/v7 \\
       --partner acme --partner globex=protobuf --behaviour accept=8,ship=2,reject --rule 'LATE-*=slow' \\
       --cancellation agree=3,refuse --journal partner.jsonl
  SIMULATOR_SASL_PASSWORD=... node dist/src/simulator/main.js --brokers kafka:9094 --partner acme=json \\
       --ca ca.pem --sasl-mechanism scram-sha-512 --sasl-username acme

Options
  --brokers LIST          host:port, separated by commas (required)
  --partner ID[=FORMAT]   whom it plays and what that speaks: ${FORMATS.join(', ')} (default: avro);
                          may be given several times (required)
  --registry LIST         URLs of the schema registry, separated by commas (required unless all speak json);
                          SIMULATOR_REGISTRY_USERNAME with _PASSWORD, or _TOKEN; --registry-ca FILE
  --group NAME            consumer group (default: <first partner>.simulator)
  --behaviour MIX         of ${BEHAVIOURS.slice(0, 6).join(', ')},
                          ${BEHAVIOURS.slice(6).join(', ')},
                          with weights; the order number's hash decides (default: accept)
  --rule PATTERN=MIX      for order numbers like LATE-*; may be given several times, the first match wins
  --cancellation MIX      of ${WISHES.join(', ')}, in the same way (default: agree); what it has despatched
                          anything of it refuses to cancel
  --cancellation-rule PATTERN=MIX
                          as --rule, for cancellations
  --seed TEXT             another distribution of the mixes over the same order numbers (default: empty)
  --delay-ms MS           how long it thinks before it answers (default: 0)
  --slow-ms MS            slow: from the acknowledgement to the acceptance; ship-early: to the acceptance (default: 2000)
  --ship-ms MS            ship: from the acceptance to the first despatch, and on to the next (default: 5000)
  --journal FILE          append what it saw and did, as JSON lines; a restarted partner recalls from it what it
                          has despatched and agreed to cancel
  --tls                   TLS with the public authorities; --ca FILE: TLS with this one
  --sasl-mechanism NAME   plain, scram-sha-256 or scram-sha-512, with --sasl-username NAME and the
                          password in the environment variable SIMULATOR_SASL_PASSWORD
  --help                  this text
`;

const FLAGS = {
  brokers: { type: 'string' },
  partner: { type: 'string', multiple: true },
  registry: { type: 'string' },
  'registry-ca': { type: 'string' },
  group: { type: 'string' },
  behaviour: { type: 'string', default: 'accept' },
  rule: { type: 'string', multiple: true },
  cancellation: { type: 'string', default: 'agree' },
  'cancellation-rule': { type: 'string', multiple: true },
  seed: { type: 'string', default: '' },
  'delay-ms': { type: 'string', default: '0' },
  'slow-ms': { type: 'string', default: '2000' },
  'ship-ms': { type: 'string', default: '5000' },
  journal: { type: 'string' },
  tls: { type: 'boolean', default: false },
  ca: { type: 'string' },
  'sasl-mechanism': { type: 'string' },
  'sasl-username': { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;
type Flags = ReturnType<typeof readFlags>;

/** Everything that is wrong with the command line, so that it can be mended in one go. */
export class UsageError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`${faults.join('\n')}\nSee --help.`);
    this.name = 'UsageError';
  }
}

/** The value that `read` makes, or a fault named after the flag. */
type Attempt = <T>(flag: string, fallback: T, read: () => T) => T;

/** Reads the command line; undefined: help was asked for. Throws {@link UsageError}. */
export function parseOptions(args: readonly string[], env: NodeJS.ProcessEnv): SimulatorOptions | undefined {
  const values = readFlags(args);
  if (values.help) return undefined;
  const faults: string[] = [];
  const attempt: Attempt = (flag, fallback, read) => {
    try {
      return read();
    } catch (error) {
      faults.push(`--${flag} ${(error as Error).message}.`);
      return fallback;
    }
  };
  const brokers = attempt('brokers', [], () => hostPorts(values.brokers));
  const wanted = values.partner ?? [];
  const parties = attempt('partner', [], () => wanted.map(party));
  const registry = attempt('registry', undefined, () => registrySettings(values, env));
  const options: SimulatorOptions = {
    brokers,
    parties,
    group: values.group ?? `${parties[0]?.id}.simulator`,
    registry,
    ...mannersOf(values, attempt),
    journal: values.journal,
    tls: values.tls || values.ca !== undefined,
    caFile: values.ca,
    sasl: attempt('sasl-mechanism', undefined, () =>
      account(values['sasl-mechanism'], values['sasl-username'], env['SIMULATOR_SASL_PASSWORD']),
    ),
  };
  if (wanted.length === 0) faults.push('--partner is missing: whom does it play?');
  const registered = parties.find(({ format }) => format !== 'json');
  if (registered && values.registry === undefined) {
    const { id, format } = registered;
    faults.push(`--registry is missing: ${id} speaks ${format}. Without a registry, say --partner ${id}=json.`);
  }
  if (faults.length > 0) throw new UsageError(faults);
  return options;
}

function mannersOf(values: Flags, attempt: Attempt): Omit<Manners, 'parties'> {
  const { seed, behaviour, cancellation } = values;
  return {
    mix: {
      rules: attempt('rule', [], () => (values.rule ?? []).map((text) => parseRule(text, BEHAVIOURS))),
      weights: attempt('behaviour', parseWeights('accept', BEHAVIOURS), () => parseWeights(behaviour, BEHAVIOURS)),
      seed,
    },
    cancellation: {
      rules: attempt('cancellation-rule', [], () =>
        (values['cancellation-rule'] ?? []).map((text) => parseRule(text, WISHES)),
      ),
      weights: attempt('cancellation', parseWeights('agree', WISHES), () => parseWeights(cancellation, WISHES)),
      seed,
    },
    delayMs: attempt('delay-ms', 0, () => milliseconds(values['delay-ms'])),
    slowMs: attempt('slow-ms', 0, () => milliseconds(values['slow-ms'])),
    shipMs: attempt('ship-ms', 0, () => milliseconds(values['ship-ms'])),
  };
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

function party(text: string): Party {
  const [id = '', name = 'avro', ...more] = text.split('=');
  if (!new RegExp(PARTNER_ID_PATTERN).test(id))
    throw new RangeError(`"${id}" is no partner id (${PARTNER_ID_PATTERN})`);
  const format = FORMATS.find((known) => known === name);
  if (!format || more.length > 0) throw new RangeError(`"${text}" is no ID=FORMAT with one of ${FORMATS.join(', ')}`);
  return { id, format };
}

function registrySettings(values: Flags, env: NodeJS.ProcessEnv): RegistrySettings | undefined {
  if (values.registry === undefined) return undefined;
  const urls = values.registry.split(',').map((part) => part.trim());
  const isBase = (url: string) => /^https?:\/\//.test(url) && URL.canParse(url) && !new URL(url).username;
  if (!urls.every(isBase))
    throw new RangeError('must be a list of http(s) URLs without credentials, separated by commas');
  const [username, password, token] = ['USERNAME', 'PASSWORD', 'TOKEN'].map(
    (name) => env[`SIMULATOR_REGISTRY_${name}`],
  );
  return {
    schemaRegistryUrls: urls,
    schemaRegistryUsername: username,
    schemaRegistryPassword: password,
    schemaRegistryToken: token,
    schemaRegistryCaFile: values['registry-ca'],
  };
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
