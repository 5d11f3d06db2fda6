import type { AdminOptions } from '@platformatic/kafka';
import type { KafkaConfig, SASLOptions } from 'kafkajs';
import type { Config } from '../../platform/config';
import { NonRetriableError } from '../../platform/errors';
import { createSocket } from './sockets';
import { tlsFiles, type TlsPaths } from './tls-files';

/** What of the configuration says how to reach the brokers, and as whom. Secrets in it may be getters that follow a file. */
export type KafkaSettings = Pick<
  Config,
  'instanceId' | 'kafkaBrokers' | 'kafkaSsl' | 'kafkaSaslMechanism' | 'kafkaSaslUsername' | 'kafkaSaslPassword'
> &
  TlsPaths;

/** TLS and SCRAM together take longer than kafkajs' default of one second. */
export const CONNECT_TIMEOUT_MS = 10_000;

/**
 * How long before the end of its session (the broker's connections.max.reauth.ms) kafkajs authenticates a connection anew. It does so
 * only before a request, so this covers the request's way to the broker. kafkajs' default of 10 s is more than a short session
 * lasts: it then authenticates before every request, which a broker refuses within a second of the last time. 2 s serves sessions
 * from 4 s on.
 */
export const REAUTHENTICATION_THRESHOLD_MS = 2_000;

/**
 * The settings with the administrator's account in the place of Parley's own. Without accounts (no KAFKA_SASL_MECHANISM) everybody
 * is the administrator. Rejects as NonRetriableError `admin-account-missing`.
 */
export function adminAccount(
  config: KafkaSettings & Pick<Config, 'kafkaAdminUsername' | 'kafkaAdminPassword' | 'kafkaAdminBrokers'>,
): KafkaSettings {
  const { kafkaSaslMechanism, kafkaAdminUsername } = config;
  if (kafkaSaslMechanism !== '' && kafkaAdminUsername === '') {
    throw new NonRetriableError('admin-account-missing', "This needs the account of the broker's administrator.", {
      hint: 'Set KAFKA_ADMIN_USERNAME and KAFKA_ADMIN_PASSWORD (or KAFKA_ADMIN_PASSWORD_FILE).',
    });
  }
  const { instanceId, kafkaSsl, kafkaCaFile, kafkaCertFile = '', kafkaKeyFile = '' } = config;
  return {
    ...{ instanceId, kafkaSsl, kafkaCaFile, kafkaCertFile, kafkaKeyFile, kafkaSaslMechanism },
    kafkaBrokers: config.kafkaAdminBrokers.length > 0 ? config.kafkaAdminBrokers : config.kafkaBrokers,
    kafkaSaslUsername: kafkaAdminUsername,
    get kafkaSaslPassword() {
      return config.kafkaAdminPassword;
    },
  };
}

/**
 * Connection options of a kafkajs client. `purpose` ends up in the client id, which brokers show in their metrics and quotas.
 * kafkajs keeps the objects `ssl` and `sasl` themselves, and reads them at each new connection and authentication.
 */
export function kafkajsSettings(settings: KafkaSettings, purpose: string): KafkaConfig {
  const mechanism = settings.kafkaSaslMechanism;
  return {
    clientId: clientId(settings, purpose),
    brokers: [...settings.kafkaBrokers],
    connectionTimeout: CONNECT_TIMEOUT_MS,
    authenticationTimeout: CONNECT_TIMEOUT_MS,
    reauthenticationThreshold: REAUTHENTICATION_THRESHOLD_MS,
    socketFactory: createSocket,
    ssl: settings.kafkaSsl ? tlsFiles(settings) : false,
    ...(mechanism === '' ? {} : { sasl: liveAccount(mechanism, settings) }),
  };
}

function liveAccount(mechanism: Exclude<Config['kafkaSaslMechanism'], ''>, settings: KafkaSettings): SASLOptions {
  return {
    mechanism,
    get username() {
      return settings.kafkaSaslUsername;
    },
    get password() {
      return settings.kafkaSaslPassword;
    },
  };
}

const SASL_NAMES = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const;

/** The same for @platformatic/kafka, which administers. */
export function adminSettings(settings: KafkaSettings, purpose: string): AdminOptions {
  const mechanism = settings.kafkaSaslMechanism;
  return {
    clientId: clientId(settings, purpose),
    bootstrapBrokers: [...settings.kafkaBrokers],
    connectTimeout: CONNECT_TIMEOUT_MS,
    timeout: CONNECT_TIMEOUT_MS,
    retries: 2,
    retryDelay: 250,
    autocreateTopics: false,
    ...(settings.kafkaSsl ? { tls: tlsFiles(settings) } : {}),
    ...(mechanism === ''
      ? {}
      : {
          sasl: {
            mechanism: SASL_NAMES[mechanism],
            username: () => settings.kafkaSaslUsername,
            password: () => settings.kafkaSaslPassword,
          },
        }),
  };
}

const clientId = (settings: KafkaSettings, purpose: string): string => `parley-${purpose}-${settings.instanceId}`;
