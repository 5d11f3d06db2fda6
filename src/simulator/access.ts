import { readFileSync } from 'node:fs';
import { type Format, FORMATS, OWN_SYSTEMS, PARTNER_ID_PATTERN } from '../contracts';
import type { RegistrySettings } from '../messaging/registry';
import type { Party } from './message';
import type { Attempt } from './usage';

/** Who somebody is at the broker. */
export interface Account {
  mechanism: Mechanism;
  /** Read at time of use: a file that changes is another password from the next connection on. */
  credentials: () => Credentials;
}

export interface Credentials {
  username: string;
  password: string;
}

/** How the brokers and the registry are reached. */
export interface Access {
  brokers: string[];
  /** Absent: without TLS. Files in PEM; without `ca` the public authorities count. */
  tls: { ca?: string; cert?: string; key?: string } | undefined;
  account: Account | undefined;
  /** Where the schemas are; needed unless everybody speaks json. */
  registry: RegistrySettings | undefined;
}

const MECHANISMS = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const;
export type Mechanism = (typeof MECHANISMS)[keyof typeof MECHANISMS];

export const ACCESS_FLAGS = {
  brokers: { type: 'string' },
  registry: { type: 'string' },
  'registry-ca': { type: 'string' },
  tls: { type: 'boolean', default: false },
  ca: { type: 'string' },
  cert: { type: 'string' },
  key: { type: 'string' },
  username: { type: 'string' },
  'sasl-mechanism': { type: 'string', default: 'scram-sha-512' },
} as const;

/** Help for {@link ACCESS_FLAGS}; `secret`: environment variable of the password. */
export const accessHelp = (secret: string): string => `  --brokers LIST          host:port, separated by commas
  --registry LIST         URLs of the schema registry, separated by commas (needed unless all speak json);
                          SIMULATOR_REGISTRY_USERNAME with _PASSWORD, or _TOKEN; --registry-ca FILE
  --tls                   TLS with the public authorities; --ca FILE: TLS with this one
  --cert FILE --key FILE  its own certificate, where the broker knows it by that
  --username NAME         its account, with the password in the environment variable ${secret},
                          or in the file that ${secret}_FILE names
  --sasl-mechanism NAME   ${Object.keys(MECHANISMS).join(', ')} (default: scram-sha-512)
`;

export interface AccessValues {
  brokers?: string | undefined;
  registry?: string | undefined;
  'registry-ca'?: string | undefined;
  tls: boolean;
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
  username?: string | undefined;
  'sasl-mechanism': string;
}

export function readAccess(values: AccessValues, env: NodeJS.ProcessEnv, secret: string, attempt: Attempt): Access {
  const { username } = values;
  const mechanism = attempt('sasl-mechanism', 'SCRAM-SHA-512' as const, () => mechanismOf(values['sasl-mechanism']));
  return {
    brokers: attempt('brokers', [], () => hostPorts(values.brokers)),
    tls: attempt('cert', undefined, () => tlsOf(values)),
    account: username === undefined ? undefined : attempt('username', undefined, () => own(username, mechanism)),
    registry: attempt('registry', undefined, () => registrySettings(values, env)),
  };

  function own(name: string, kind: Mechanism): Account {
    const credentials = () => ({ username: name, password: secretOf(env, secret) });
    credentials();
    return { mechanism: kind, credentials };
  }
}

/** The variable's value, or the content of the file that `<NAME>_FILE` names, as it is now. Throws a RangeError that says what is wrong. */
export function secretOf(env: NodeJS.ProcessEnv, name: string): string {
  const file = env[`${name}_FILE`];
  const secret = file === undefined ? env[name] : textOf(file, `${name}_FILE`).replace(/\r?\n$/, '');
  if (!secret) throw new RangeError(`needs the password in ${name}, or a file with it in ${name}_FILE`);
  return secret;
}

/** Accounts by partner, `{"acme": {"username": "acme.1", "password": "…"}}`: read anew with each call. */
export function accountsIn(file: string, mechanism: Mechanism): (partner: string) => Account {
  const read = (partner: string): Credentials => {
    const { username, password } = accountsOf(file)[partner] ?? {};
    if (typeof username !== 'string' || typeof password !== 'string' || !username || !password) {
      throw new RangeError(`names no username and password of ${partner} in ${file}`);
    }
    return { username, password };
  };
  return (partner) => {
    read(partner);
    return { mechanism, credentials: () => read(partner) };
  };
}

function accountsOf(file: string): Record<string, Partial<Record<string, unknown>> | undefined> {
  let accounts: unknown;
  try {
    accounts = JSON.parse(textOf(file, 'the file'));
  } catch (error) {
    // A parser's message quotes what it read, which here is a secret.
    // eslint-disable-next-line preserve-caught-error
    if (error instanceof SyntaxError) throw new RangeError(`finds no JSON in ${file}`);
    throw error;
  }
  if (typeof accounts !== 'object' || accounts === null) throw new RangeError(`finds no JSON object in ${file}`);
  return accounts as ReturnType<typeof accountsOf>;
}

function textOf(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new RangeError(`can't read ${what} (${code}: ${file})`, { cause: error });
  }
}

function tlsOf({ tls, ca, cert, key }: AccessValues): Access['tls'] {
  if ((cert === undefined) !== (key === undefined)) throw new RangeError('and --key belong together');
  if (!tls && ca === undefined && cert === undefined) return undefined;
  for (const file of [ca, cert, key]) if (file !== undefined) textOf(file, 'the file');
  return { ...(ca === undefined ? {} : { ca }), ...(cert === undefined || key === undefined ? {} : { cert, key }) };
}

export function mechanismOf(text: string): Mechanism {
  const known = Object.entries(MECHANISMS).find(([name]) => name === text);
  if (!known) throw new RangeError(`knows ${Object.keys(MECHANISMS).join(', ')}; not "${text}"`);
  return known[1];
}

function hostPorts(text = ''): string[] {
  const list = text.split(',').map((part) => part.trim());
  if (!list.every((part) => /^[^\s:,/]+:\d{1,5}$/.test(part))) {
    throw new RangeError('must be a list of host:port, separated by commas');
  }
  return list;
}

export function partnerIdOf(id: string): string {
  if (id === OWN_SYSTEMS)
    throw new RangeError(`"${id}" are the company's own systems, which answer no orders: name a partner`);
  if (new RegExp(PARTNER_ID_PATTERN).test(id)) return id;
  throw new RangeError(`"${id}" is no partner id (${PARTNER_ID_PATTERN})`);
}

export function formatOf(text: string | undefined): Format | undefined {
  const format = FORMATS.find((known) => known === text);
  if (text !== undefined && !format) throw new RangeError(`knows ${FORMATS.join(', ')}; not "${text}"`);
  return format;
}

export function partyOf(text: string): Party {
  const [id = '', name = 'avro', ...more] = text.split('=');
  const format = FORMATS.find((known) => known === name);
  if (!format || more.length > 0) throw new RangeError(`"${text}" is no ID=FORMAT with one of ${FORMATS.join(', ')}`);
  return { id: partnerIdOf(id), format };
}

function registrySettings(values: AccessValues, env: NodeJS.ProcessEnv): RegistrySettings | undefined {
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

/** What lacks a registry: all that names its schemas. */
export function registryFault(parties: readonly Party[], registry: unknown): string | undefined {
  const registered = parties.find(({ format }) => format !== 'json');
  if (!registered || registry !== undefined) return undefined;
  const { id, format } = registered;
  return `--registry is missing: ${id} speaks ${format}. Without a registry, say --partner ${id}=json.`;
}
