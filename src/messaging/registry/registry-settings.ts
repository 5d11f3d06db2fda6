import { readFileSync } from 'node:fs';
import type { Config } from '../../platform/config';
import { messageOf, NonRetriableError } from '../../platform/errors';

/** What of the configuration says how to reach the schema registry. */
export type RegistrySettings = Pick<Config, 'schemaRegistryUrls'> &
  Partial<
    Pick<
      Config,
      | 'schemaRegistryUsername'
      | 'schemaRegistryPassword'
      | 'schemaRegistryToken'
      | 'schemaRegistryCaFile'
      | 'schemaRegistryDeadlineMs'
    >
  >;

/** The settings in the form in which they are used. */
export interface RegistryAccess {
  /** Without credentials and final slash. */
  urls: readonly string[];
  deadlineMs: number;
  /** Value of the header; asked for each request, for a secret may have changed. */
  readonly authorization: string | undefined;
  /** PEM. */
  ca: string | undefined;
  /** The text without our secrets, whoever put them there. */
  redacted: (text: string) => string;
}

/** Throws a NonRetriableError for a URL or CA file that can't be used. */
export function accessOf(settings: RegistrySettings): RegistryAccess {
  return {
    urls: settings.schemaRegistryUrls.map(baseUrl),
    deadlineMs: settings.schemaRegistryDeadlineMs ?? 3000,
    get authorization() {
      return authorizationOf(settings);
    },
    ca: certificateAuthority(settings.schemaRegistryCaFile),
    redacted: (text) => secretsOf(settings).reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text),
  };
}

const secretsOf = (settings: RegistrySettings): string[] =>
  [settings.schemaRegistryPassword, settings.schemaRegistryToken, authorizationOf(settings)?.split(' ')[1]].filter(
    (secret): secret is string => secret !== undefined && secret !== '',
  );

function baseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.username || url.password) {
    throw new NonRetriableError(
      'registry-misconfigured',
      'A URL of the schema registry is none, or carries credentials.',
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function authorizationOf(settings: RegistrySettings): string | undefined {
  const { schemaRegistryUsername: name, schemaRegistryPassword: password, schemaRegistryToken: token } = settings;
  if (token) return `Bearer ${token}`;
  return name ? `Basic ${Buffer.from(`${name}:${password ?? ''}`).toString('base64')}` : undefined;
}

function certificateAuthority(file: string | undefined): string | undefined {
  if (!file) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const problem = `SCHEMA_REGISTRY_CA_FILE="${file}" can't be read: ${messageOf(error)}.`;
    throw new NonRetriableError('registry-ca-unreadable', problem, { cause: error });
  }
}
