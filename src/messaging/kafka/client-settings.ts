import { readFileSync } from 'node:fs';
import type { AdminOptions } from '@platformatic/kafka';
import type { KafkaConfig, SASLOptions } from 'kafkajs';
import type { Config } from '../../platform/config';
import { messageOf, NonRetriableError } from '../../platform/errors';

/** What of the configuration says how to reach the brokers. */
export type KafkaSettings = Pick<
  Config,
  | 'instanceId'
  | 'kafkaBrokers'
  | 'kafkaSsl'
  | 'kafkaCaFile'
  | 'kafkaSaslMechanism'
  | 'kafkaSaslUsername'
  | 'kafkaSaslPassword'
>;

/** TLS and SCRAM together take longer than kafkajs' default of one second. */
export const CONNECT_TIMEOUT_MS = 10_000;

function certificateAuthority(file: string): string | undefined {
  if (!file) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new NonRetriableError('kafka-ca-unreadable', `KAFKA_CA_FILE="${file}" can't be read: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

function tls(settings: KafkaSettings): { ca?: string[] } | undefined {
  if (!settings.kafkaSsl) return undefined;
  const ca = certificateAuthority(settings.kafkaCaFile);
  return ca === undefined ? {} : { ca: [ca] };
}

/** Connection options of a kafkajs client. `purpose` ends up in the client id, which brokers show in their metrics and quotas. */
export function kafkajsSettings(settings: KafkaSettings, purpose: string): KafkaConfig {
  const mechanism = settings.kafkaSaslMechanism;
  const credentials = { username: settings.kafkaSaslUsername, password: settings.kafkaSaslPassword };
  return {
    clientId: clientId(settings, purpose),
    brokers: [...settings.kafkaBrokers],
    connectionTimeout: CONNECT_TIMEOUT_MS,
    authenticationTimeout: CONNECT_TIMEOUT_MS,
    ssl: tls(settings) ?? false,
    ...(mechanism === '' ? {} : { sasl: { mechanism, ...credentials } as SASLOptions }),
  };
}

const SASL_NAMES = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const;

/** The same for @platformatic/kafka, which administers. */
export function adminSettings(settings: KafkaSettings, purpose: string): AdminOptions {
  const mechanism = settings.kafkaSaslMechanism;
  const secured = tls(settings);
  return {
    clientId: clientId(settings, purpose),
    bootstrapBrokers: [...settings.kafkaBrokers],
    connectTimeout: CONNECT_TIMEOUT_MS,
    timeout: CONNECT_TIMEOUT_MS,
    retries: 2,
    retryDelay: 250,
    autocreateTopics: false,
    ...(secured ? { tls: secured } : {}),
    ...(mechanism === ''
      ? {}
      : {
          sasl: {
            mechanism: SASL_NAMES[mechanism],
            username: settings.kafkaSaslUsername,
            password: settings.kafkaSaslPassword,
          },
        }),
  };
}

const clientId = (settings: KafkaSettings, purpose: string): string => `parley-${purpose}-${settings.instanceId}`;
