import { hostname } from 'node:os';
import { kafkaFaults } from './kafka-keys';
import { KEYS, type Config } from './keys';
import { notificationFaults } from './notification-keys';
import type { Key } from './parsers';
import { SecretFile } from './secret-file';

/** All that is wrong with the environment, so that it can be mended in one go. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(
      `The environment has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\nEvery key is explained in .env.example.`,
    );
    this.name = 'ConfigError';
  }
}

const files = new WeakMap<Config, readonly SecretFile[]>();

/** The secrets of this configuration that stand in files. */
export const secretFilesOf = (config: Config): readonly SecretFile[] => files.get(config) ?? [];

/**
 * Reads the configuration. Throws {@link ConfigError} with all faults at once; values of secrets are never named.
 *
 * A secret that stands in a file is a getter which follows that file: read it from the configuration whenever it is used. A copy
 * (`{ ...config }`, or a value kept since the start) does not follow.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  const secrets = new Map<string, SecretFile>();
  for (const [name, key] of Object.entries(KEYS) as [string, Key<unknown>][]) {
    const path = key.secret ? env[`${key.env}_FILE`]?.trim() : undefined;
    if (path) {
      try {
        if (env[key.env]?.trim()) throw new RangeError(`takes the place of ${key.env}: set one of them`);
        const file = new SecretFile(key.env, path, key.parse);
        secrets.set(name, file);
        values[name] = file.value;
      } catch (error) {
        faults.push(`${key.env}_FILE ${(error as Error).message}.`);
        // It was given: no other fault must say that it is missing.
        values[name] = '-';
      }
      continue;
    }
    const raw = env[key.env]?.trim() || (isUnneeded(key, values) ? '' : key.fallback);
    if (raw === undefined) {
      faults.push(`${key.env} is missing. ${key.doc}`);
      continue;
    }
    try {
      values[name] = key.parse(raw);
    } catch (error) {
      faults.push(`${key.env}${key.secret ? '' : `="${withoutCredentials(raw)}"`} ${(error as Error).message}.`);
    }
  }
  const config = values as Config;
  faults.push(...kafkaFaults(config), ...registryFaults(config), ...timeFaults(config));
  faults.push(...signInFaults(config), ...notificationFaults(config));
  if (faults.length > 0) throw new ConfigError(faults);
  const loaded = {
    ...config,
    instanceId: config.instanceId || `${hostname()}-${process.pid}`,
    watchdogMs: config.watchdogMs || Math.floor((config.kafkaSessionTimeoutMs * 2) / 3),
  };
  for (const [name, file] of secrets)
    Object.defineProperty(loaded, name, { get: () => file.value, enumerable: true, configurable: false });
  files.set(loaded, [...secrets.values()]);
  return Object.freeze(loaded);
}

/** Roles are read first. */
const isUnneeded = ({ unneededBy }: Key<unknown>, { roles }: Partial<Config>): boolean =>
  unneededBy !== undefined && roles?.every((role) => unneededBy.includes(role)) === true;

function registryFaults(config: Partial<Config>): string[] {
  const { schemaRegistryUsername: username, schemaRegistryPassword: password, schemaRegistryToken: token } = config;
  return [
    ...(Boolean(username) !== Boolean(password)
      ? ['SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD go together.']
      : []),
    ...(token && username
      ? ['SCHEMA_REGISTRY_TOKEN takes the place of SCHEMA_REGISTRY_USERNAME: set one of them.']
      : []),
  ];
}

function signInFaults({ oidcIssuer, oidcAudience, oidcRoleMap, oidcRoleClaim }: Config): string[] {
  // Undefined: it could not be read, and has its fault already.
  const lacks = (oidcAudience === '' ? ['OIDC_AUDIENCE'] : []).concat(
    oidcRoleMap?.length === 0 ? ['OIDC_ROLE_MAP'] : [],
    oidcRoleClaim?.length === 0 ? ['OIDC_ROLE_CLAIM'] : [],
  );
  if (oidcIssuer) return lacks.map((key) => `OIDC_ISSUER needs ${key}.`);
  return oidcIssuer === '' && (oidcAudience || oidcRoleMap?.length > 0)
    ? ['OIDC_AUDIENCE and OIDC_ROLE_MAP mean nothing without OIDC_ISSUER: set it, or take them away.']
    : [];
}

/** Times that only make sense together. What could not be read is undefined here, and has its fault already. */
function timeFaults(config: Partial<Config>): string[] {
  const { watchdogMs = 0, kafkaSessionTimeoutMs = Infinity } = config;
  const { inboxRetentionHours = Infinity, kafkaTopicRetentionHours = 0 } = config;
  const { shutdownDrainMs = 0, shutdownTimeoutMs = Infinity } = config;
  return [
    ...(shutdownDrainMs >= shutdownTimeoutMs
      ? ['SHUTDOWN_DRAIN_MS must be less than SHUTDOWN_TIMEOUT_MS, which counts from the same moment.']
      : []),
    ...(watchdogMs >= kafkaSessionTimeoutMs
      ? [
          'WATCHDOG_MS must be less than KAFKA_SESSION_TIMEOUT_MS: a blocked process has to end before its partitions go to the next one, or the record would block that one, too.',
        ]
      : []),
    ...(inboxRetentionHours < kafkaTopicRetentionHours + 24
      ? [
          'INBOX_RETENTION_HOURS must be at least KAFKA_TOPIC_RETENTION_HOURS and 24 more: a record that the topic still has would be applied again once its id is forgotten.',
        ]
      : []),
  ];
}

/** A URL may carry credentials even where none are allowed. */
const withoutCredentials = (raw: string): string => raw.replaceAll(/\/\/\S*@/g, '//[redacted]@');
