import { CONSUMER_KEYS } from './consumer-keys';
import { HTTP_KEYS } from './http-keys';
import { KAFKA_KEYS } from './kafka-keys';
import { NOTIFICATION_KEYS } from './notification-keys';
import { bool, httpUrls, integer, oneOf, postgresUrl, roles, text, token, type Key } from './parsers';
import { STAFF_KEYS } from './staff-keys';

/**
 * Every environment variable that Parley reads: the one table behind `loadConfig`, `.env.example` and the README.
 * `doc` states what it is and why the default is what it is.
 */
export const KEYS = {
  roles: {
    env: 'ROLES',
    parse: roles,
    fallback: 'api,relay,consumer,notifier',
    unit: 'list',
    doc: 'What this process does: any of api, relay, consumer, notifier. All of them by default, so that one process is a whole system.',
  },
  instanceId: {
    env: 'INSTANCE_ID',
    parse: text(64),
    fallback: '',
    unit: 'name',
    doc: 'Name of this process in logs and in the relay lease. Empty: host name and process id.',
  },
  logLevel: {
    env: 'LOG_LEVEL',
    parse: oneOf('silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'),
    fallback: 'info',
    unit: 'level',
    doc: 'Least severe log line that is written.',
  },

  ...HTTP_KEYS,
  ...STAFF_KEYS,

  databaseUrl: {
    env: 'DATABASE_URL',
    parse: postgresUrl,
    fallback: undefined,
    secret: true,
    unit: 'URL',
    doc: 'PostgreSQL 15 or newer: postgres://user:password@host:port/database.',
  },
  databasePoolSize: {
    env: 'DATABASE_POOL_SIZE',
    parse: integer(2, 200),
    fallback: '8',
    unit: 'connections',
    doc: 'Pool of one process; 4 per core of the database was best in trials (8 beat 32 on two cores). The relay takes two more of its own.',
  },
  databaseConnectTimeout: {
    env: 'DATABASE_CONNECT_TIMEOUT_MS',
    parse: integer(100, 60_000),
    fallback: '5000',
    unit: 'ms',
    doc: 'How long a connection may take before the attempt counts as failed.',
  },
  databaseStatementTimeout: {
    env: 'DATABASE_STATEMENT_TIMEOUT_MS',
    parse: integer(100, 600_000),
    fallback: '15000',
    unit: 'ms',
    doc: 'Longest statement; a stuck one must not hold locks for ever.',
  },

  ...KAFKA_KEYS,
  eventSource: {
    env: 'EVENT_SOURCE',
    parse: text(255),
    fallback: '/parley',
    unit: 'URI reference',
    doc: 'ce_source of every message that we send: says which installation spoke.',
  },

  schemaRegistryUrls: {
    env: 'SCHEMA_REGISTRY_URLS',
    parse: httpUrls,
    fallback: '',
    unit: 'URL list',
    doc: "Schema registries that hold the same schemas (Confluent's API), separated by commas; the one that answered last is asked first. Empty: only channels of plain JSON work.",
  },
  schemaRegistryUsername: {
    env: 'SCHEMA_REGISTRY_USERNAME',
    parse: text(255),
    fallback: '',
    unit: 'name',
    doc: 'Account of Parley at the schema registry (basic authentication).',
  },
  schemaRegistryPassword: {
    env: 'SCHEMA_REGISTRY_PASSWORD',
    parse: text(1024),
    fallback: '',
    secret: true,
    unit: 'secret',
    doc: 'Its password.',
  },
  schemaRegistryToken: {
    env: 'SCHEMA_REGISTRY_TOKEN',
    parse: token,
    fallback: '',
    secret: true,
    unit: 'secret',
    doc: 'Bearer token, in place of an account.',
  },
  schemaRegistryCaFile: {
    env: 'SCHEMA_REGISTRY_CA_FILE',
    parse: text(4096),
    fallback: '',
    unit: 'path',
    doc: "PEM file of the authority that signed the schema registry's certificate. Empty: the public ones.",
  },
  schemaRegistryDeadlineMs: {
    env: 'SCHEMA_REGISTRY_DEADLINE_MS',
    parse: integer(100, 60_000),
    fallback: '3000',
    unit: 'ms',
    doc: 'How long a schema registry may take for one answer; with retries a call ends after twice that. Only schemas not yet in memory are asked for.',
  },

  relayLeaseMs: {
    env: 'RELAY_LEASE_MS',
    parse: integer(1000, 120_000),
    fallback: '10000',
    unit: 'ms',
    doc: 'How long a silent relay keeps the right to publish; a standby takes over after it.',
  },
  outboxPartitionRows: {
    env: 'OUTBOX_PARTITION_ROWS',
    parse: integer(1000, 100_000_000),
    fallback: '5000000',
    unit: 'rows',
    doc: 'Rows per partition of the outbox; a partition is the unit in which sent rows are dropped.',
  },
  outboxRetentionHours: {
    env: 'OUTBOX_RETENTION_HOURS',
    parse: integer(1, 24 * 365),
    fallback: '336',
    unit: 'hours',
    doc: 'How long sent outbox rows are kept for timelines and re-sending: 14 days. Unsent rows never expire.',
  },

  ...CONSUMER_KEYS,
  deadLetterApproval: {
    env: 'DEAD_LETTER_APPROVAL',
    parse: bool,
    fallback: 'false',
    unit: 'true/false',
    doc: 'Must a second person agree before the edited document of a dead letter counts? Set it where one alone must not change what a partner said.',
  },

  ...NOTIFICATION_KEYS,
  idempotencyHours: {
    env: 'IDEMPOTENCY_RETENTION_HOURS',
    parse: integer(1, 24 * 30),
    fallback: '24',
    unit: 'hours',
    doc: 'How long an Idempotency-Key answers with the first answer again.',
  },
  shutdownDrainMs: {
    env: 'SHUTDOWN_DRAIN_MS',
    parse: integer(0, 60_000),
    fallback: '0',
    unit: 'ms',
    doc: 'After SIGTERM: how long requests are still served while /readyz says no. In Kubernetes 5000, so that the endpoint is gone before the door closes.',
  },
  shutdownTimeoutMs: {
    env: 'SHUTDOWN_TIMEOUT_MS',
    parse: integer(1000, 300_000),
    fallback: '25000',
    unit: 'ms',
    doc: 'Hard end of a shutdown; keep it below terminationGracePeriodSeconds.',
  },
} satisfies Record<string, Key<unknown>>;

export type Config = { readonly [K in keyof typeof KEYS]: ReturnType<(typeof KEYS)[K]['parse']> };
