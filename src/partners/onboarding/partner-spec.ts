import { Ajv2020, type ErrorObject } from 'ajv/dist/2020';
import type { Format } from '../../contracts';
import type { Config } from '../../platform/config';
import { NonRetriableError, type Violation } from '../../platform/errors';
import { step } from '../../platform/json';
import schema from './partner-file.schema.json';

/** What a partner is to be, with every default filled in. The form and its rules: `partner-file.schema.json`. */
export interface PartnerSpec {
  partner: string;
  /** For people. */
  name: string;
  format: Format;
  partitions: number;
  allowMissingId: boolean;
  topics: {
    retentionHours: number;
    /** Counts when a topic is made. */
    replicationFactor: number;
    minInsyncReplicas: number;
    maxMessageBytes: number;
  };
  authentication: { type: 'scram-sha-512' } | { type: 'tls'; subject: string };
  /** 0: no limit. */
  quotas: { producerBytesPerSecond: number; consumerBytesPerSecond: number; requestPercent: number };
  credentialDays: number;
}

/** As a person writes it. */
export interface PartnerFile {
  apiVersion?: 'parley/v1';
  partner: string;
  name?: string;
  format?: Format;
  partitions?: number;
  allowMissingId?: boolean;
  topics?: Partial<PartnerSpec['topics']>;
  authentication?: { type: 'scram-sha-512' | 'tls'; subject?: string };
  quotas?: Partial<PartnerSpec['quotas']>;
  credentialDays?: number;
}

/** What of the configuration is a default of the form, or bounds it. */
export type SpecDefaults = Pick<
  Config,
  | 'kafkaReplicationFactor'
  | 'kafkaTopicRetentionHours'
  | 'inboxRetentionHours'
  | 'kafkaSaslUsername'
  | 'kafkaAdminUsername'
>;

/** What we ourselves are called at the broker. */
export type OwnAccounts = Pick<Config, 'kafkaSaslUsername' | 'kafkaAdminUsername'>;

/** JSON Schema (2020-12) of the form; its values in `default` are those that {@link specOf} fills in. */
export const PARTNER_FILE_SCHEMA: Readonly<Record<string, unknown>> = schema;

const { properties } = schema;
const ajv = new Ajv2020({ allErrors: true, strict: true, keywords: ['example'] });
const isFile = ajv.compile<PartnerFile>(schema);

/**
 * Reads the form and fills in what is left out. Throws `partner-spec-invalid` with all that is wrong, each with its pointer; unknown members are
 * refused, so that a misspelt one is not silently lost.
 */
export function specOf(document: unknown, defaults: SpecDefaults): PartnerSpec {
  if (!isFile(document)) throw invalid((isFile.errors ?? []).map(violationOf));
  const spec = filled(document, defaults);
  const violations = crossed(document, spec, defaults);
  if (violations.length > 0) throw invalid(violations);
  return spec;
}

function filled(file: PartnerFile, defaults: SpecDefaults): PartnerSpec {
  const { topics = {}, quotas = {} } = file;
  const replicationFactor = topics.replicationFactor ?? defaults.kafkaReplicationFactor;
  const limits = properties.quotas.properties;
  return {
    partner: file.partner,
    name: file.name ?? file.partner,
    format: file.format ?? (properties.format.default as Format),
    partitions: file.partitions ?? properties.partitions.default,
    allowMissingId: file.allowMissingId ?? properties.allowMissingId.default,
    topics: {
      retentionHours: topics.retentionHours ?? defaults.kafkaTopicRetentionHours,
      replicationFactor,
      minInsyncReplicas: topics.minInsyncReplicas ?? Math.max(1, replicationFactor - 1),
      maxMessageBytes: topics.maxMessageBytes ?? properties.topics.properties.maxMessageBytes.default,
    },
    authentication:
      file.authentication?.type === 'tls'
        ? { type: 'tls', subject: file.authentication.subject ?? '' }
        : { type: 'scram-sha-512' },
    quotas: {
      producerBytesPerSecond: quotas.producerBytesPerSecond ?? limits.producerBytesPerSecond.default,
      consumerBytesPerSecond: quotas.consumerBytesPerSecond ?? limits.consumerBytesPerSecond.default,
      requestPercent: quotas.requestPercent ?? limits.requestPercent.default,
    },
    credentialDays: file.credentialDays ?? properties.credentialDays.default,
  };
}

/** Accounts that are made here; nobody else may be called so, or one partner's rights were given to another. */
const ACCOUNT = /^[a-z][a-z0-9-]{0,31}\.\d+$/;

/** Why a certificate may not be called so: with the name, a partner would get and lose what is somebody else's. Undefined: it may. */
export function faultOfSubject(subject: string, own: OwnAccounts): string | undefined {
  if (ACCOUNT.test(subject)) return 'must not look like the account of a password (<partner>.<number>)';
  if (subject === own.kafkaSaslUsername || subject === own.kafkaAdminUsername)
    return "must not be Parley's own account or the administrator's";
  return subject === 'ANONYMOUS'
    ? 'must not be ANONYMOUS, as the broker calls everybody without an account'
    : undefined;
}

/** Rules between members, which the schema can't say so that people understand it. */
function crossed({ authentication }: PartnerFile, { topics }: PartnerSpec, defaults: SpecDefaults): Violation[] {
  const found: Violation[] = [];
  const rule = (pointer: string, detail: string) => void found.push({ pointer, detail });
  if (authentication?.type === 'tls' && authentication.subject === undefined)
    rule('/authentication/subject', 'is missing; with the type tls it must say whose certificate it is');
  if (authentication?.type === 'scram-sha-512' && authentication.subject !== undefined)
    rule('/authentication/subject', 'must not be there: only the type tls has a subject');
  const taken = authentication?.subject === undefined ? undefined : faultOfSubject(authentication.subject, defaults);
  if (taken !== undefined) rule('/authentication/subject', taken);
  if (topics.minInsyncReplicas > topics.replicationFactor)
    rule('/topics/minInsyncReplicas', `must be at most replicationFactor, which is ${topics.replicationFactor}`);
  const most = defaults.inboxRetentionHours - 24;
  if (topics.retentionHours > most)
    rule(
      '/topics/retentionHours',
      `must be at most ${most}: ids of records are remembered for INBOX_RETENTION_HOURS (${defaults.inboxRetentionHours}), and a record that its topic still has would be applied again a day before`,
    );
  return found;
}

/** In the words of a person who looks at a file, not of a schema. */
function violationOf({ instancePath, keyword, params, message }: ErrorObject): Violation {
  switch (keyword) {
    case 'additionalProperties':
      return {
        pointer: step(instancePath, String(params['additionalProperty'])),
        detail: 'is not a member that exists here',
      };
    case 'required':
      return { pointer: step(instancePath, String(params['missingProperty'])), detail: 'is missing' };
    case 'enum':
      return {
        pointer: instancePath,
        detail: `must be one of ${(params['allowedValues'] as string[]).join(', ')}`,
      };
    case 'pattern':
      return { pointer: instancePath, detail: PATTERNS[instancePath] ?? 'has signs that are not allowed here' };
    default:
      return { pointer: instancePath, detail: message ?? 'is invalid' };
  }
}

const PATTERNS: Readonly<Record<string, string>> = {
  '/partner': 'must be a lower-case letter, then up to 31 lower-case letters, digits or dashes',
  '/name': 'must be 1 to 200 printable characters',
  '/authentication/subject': 'must be 1 to 200 printable characters without *',
};

function invalid(violations: readonly Violation[]): NonRetriableError {
  const all = violations.map(({ pointer, detail }) => `${pointer || 'The document'} ${detail}`);
  return new NonRetriableError('partner-spec-invalid', `${all.join('; ')}.`, { violations });
}
