import { bool, hostPortsOrEmpty, integer, oneOf, text, type Key } from './parsers';

/** Keys of the brokers: how to reach them, who we are there, what we make there. */
export const KAFKA_KEYS = {
  kafkaBrokers: {
    env: 'KAFKA_BROKERS',
    parse: hostPortsOrEmpty,
    fallback: undefined,
    unneededBy: ['notifier'],
    unit: 'host:port list',
    doc: 'Bootstrap servers, separated by commas.',
  },
  kafkaSsl: {
    env: 'KAFKA_SSL',
    parse: bool,
    fallback: 'false',
    unit: 'true/false',
    doc: 'TLS to the brokers. Required with a SASL mechanism that sends the password.',
  },
  kafkaCaFile: {
    env: 'KAFKA_CA_FILE',
    parse: text(4096),
    fallback: '',
    unit: 'path',
    doc: "PEM file of the authority that signed the brokers' certificates. Empty: the public ones.",
  },
  kafkaCertFile: {
    env: 'KAFKA_CERT_FILE',
    parse: text(4096),
    fallback: '',
    unit: 'path',
    doc: 'PEM file of the certificate (with those between it and its authority) by which Parley shows who it is to a broker that asks for one (mTLS); read anew when it changes. Needs KAFKA_SSL=true and KAFKA_KEY_FILE.',
  },
  kafkaKeyFile: {
    env: 'KAFKA_KEY_FILE',
    parse: text(4096),
    fallback: '',
    unit: 'path',
    doc: 'PEM file of its private key.',
  },
  kafkaSaslMechanism: {
    env: 'KAFKA_SASL_MECHANISM',
    parse: oneOf('', 'plain', 'scram-sha-256', 'scram-sha-512'),
    fallback: '',
    unit: 'mechanism',
    doc: 'SASL mechanism. Empty: none, as for quick development; then there are no accounts, rights or quotas at the broker.',
  },
  kafkaSaslUsername: {
    env: 'KAFKA_SASL_USERNAME',
    parse: text(255),
    fallback: '',
    unit: 'name',
    doc: 'Account of Parley at the broker.',
  },
  kafkaSaslPassword: {
    env: 'KAFKA_SASL_PASSWORD',
    parse: text(1024),
    fallback: '',
    secret: true,
    unit: 'secret',
    doc: 'Its password.',
  },
  kafkaAdminUsername: {
    env: 'KAFKA_ADMIN_USERNAME',
    parse: text(255),
    fallback: '',
    unit: 'name',
    doc: "Account of the broker's administrator, for onboarding partners and rotating their passwords, and for nothing else. Only commands and the processes that offer these by REST need it.",
  },
  kafkaAdminPassword: {
    env: 'KAFKA_ADMIN_PASSWORD',
    parse: text(1024),
    fallback: '',
    secret: true,
    unit: 'secret',
    doc: 'Its password.',
  },
  kafkaAdminBrokers: {
    env: 'KAFKA_ADMIN_BROKERS',
    parse: hostPortsOrEmpty,
    fallback: '',
    unit: 'host:port list',
    doc: 'Where the administrator signs in, with the same TLS settings. Empty: KAFKA_BROKERS.',
  },
  kafkaConsumerGroup: {
    env: 'KAFKA_CONSUMER_GROUP',
    parse: text(200),
    fallback: 'parley',
    unit: 'name',
    doc: 'Consumer group; all processes of one installation share it.',
  },
  kafkaSessionTimeoutMs: {
    env: 'KAFKA_SESSION_TIMEOUT_MS',
    parse: integer(6000, 300_000),
    fallback: '45000',
    unit: 'ms',
    doc: 'How long a consumer that was killed keeps its partitions from the others. Shorter takes over sooner, but gives partitions away when a process is only slow for a moment.',
  },
  kafkaReplicationFactor: {
    env: 'KAFKA_REPLICATION_FACTOR',
    parse: integer(1, 15),
    fallback: '3',
    unit: 'replicas',
    doc: 'Copies of each topic that the admin step creates; 1 only where losing a broker may lose data.',
  },
  kafkaTopicRetentionHours: {
    env: 'KAFKA_TOPIC_RETENTION_HOURS',
    parse: integer(1, 24 * 365),
    fallback: '168',
    unit: 'hours',
    doc: 'retention.ms of each topic that a partner writes, as the admin step creates it: 7 days, so that a consumer that is away over a long weekend loses nothing.',
  },
} satisfies Record<string, Key<unknown>>;

type KafkaConfig = { readonly [K in keyof typeof KAFKA_KEYS]: ReturnType<(typeof KAFKA_KEYS)[K]['parse']> };

/** What doesn't go together. What could not be read is undefined here, and has its fault already. */
export function kafkaFaults(config: Partial<KafkaConfig>): string[] {
  const faults: string[] = [];
  if (config.kafkaSaslMechanism && !(config.kafkaSaslUsername && config.kafkaSaslPassword)) {
    faults.push('KAFKA_SASL_MECHANISM needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD.');
  }
  if (config.kafkaSaslMechanism === 'plain' && config.kafkaSsl === false) {
    faults.push('KAFKA_SASL_MECHANISM="plain" sends the password as it is: set KAFKA_SSL=true or use scram-sha-512.');
  }
  if (Boolean(config.kafkaCertFile) !== Boolean(config.kafkaKeyFile)) {
    faults.push('KAFKA_CERT_FILE and KAFKA_KEY_FILE go together.');
  }
  if (config.kafkaCertFile && config.kafkaSsl === false) {
    faults.push('KAFKA_CERT_FILE needs KAFKA_SSL=true.');
  }
  if (Boolean(config.kafkaAdminUsername) !== Boolean(config.kafkaAdminPassword)) {
    faults.push('KAFKA_ADMIN_USERNAME and KAFKA_ADMIN_PASSWORD go together.');
  }
  if (config.kafkaAdminUsername && config.kafkaAdminBrokers?.length === 0 && config.kafkaBrokers?.length === 0) {
    faults.push('KAFKA_ADMIN_USERNAME needs KAFKA_ADMIN_BROKERS or KAFKA_BROKERS.');
  }
  return faults;
}
