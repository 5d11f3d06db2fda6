import { adminAccount, createKafkaAdmin, createSecurityAdmin } from '../../messaging/kafka';
import { createSchemaRegistry } from '../../messaging/registry';
import type { Clock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import { Onboarder } from './onboarder';

/**
 * Opens what onboarding needs, under the administrator's account, and closes it behind the work. Without KAFKA_SASL_MECHANISM the broker has no accounts:
 * then a partner is topics and channels. With `elsewhere` everything at the broker is made by others, and Parley's own account looks at it. Throws
 * `admin-account-missing`.
 */
export async function withOnboarder<T>(
  { database, config, clock, elsewhere = false }: OnboarderSettings,
  work: (onboarder: Onboarder) => Promise<T>,
): Promise<T> {
  const settings = elsewhere ? config : adminAccount(config);
  const admin = createKafkaAdmin(settings);
  const security = elsewhere ? undefined : createSecurityAdmin(settings);
  const registry = config.schemaRegistryUrls.length > 0 ? createSchemaRegistry(config) : undefined;
  const accounts =
    config.kafkaSaslMechanism === ''
      ? undefined
      : { username: config.kafkaSaslUsername, consumerGroup: config.kafkaConsumerGroup };
  try {
    return await work(new Onboarder({ database, admin, security, accounts, registry, elsewhere }, clock));
  } finally {
    await Promise.all([admin.close(), security?.close(), registry?.close()]);
  }
}

interface OnboarderSettings {
  database: Database;
  config: Config;
  clock: Clock;
  elsewhere?: boolean;
}
