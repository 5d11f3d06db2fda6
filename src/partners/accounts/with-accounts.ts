import { adminAccount, createSecurityAdmin, type SecurityAdmin } from '../../messaging/kafka';
import type { Clock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { Disabling } from './disabling';
import { Retirement } from './retirement';
import { Rotation } from './rotation';

/** What accounts are changed with, under the administrator's account. */
export interface AccountTools {
  security: SecurityAdmin;
  rotation: Rotation;
  retirement: Retirement;
  disabling: Disabling;
}

/** May this process change accounts at the broker? */
export const canAdminister = (config: Pick<Config, 'kafkaSaslMechanism' | 'kafkaAdminUsername'>): boolean =>
  config.kafkaSaslMechanism !== '' && config.kafkaAdminUsername !== '';

/**
 * Opens them and closes them behind the work. Throws `accounts-unavailable` where the broker has no accounts, `admin-account-missing` where we don't
 * have the administrator's.
 */
export async function withAccounts<T>(
  { database, config, clock }: { database: Database; config: Config; clock: Clock },
  work: (tools: AccountTools) => Promise<T>,
): Promise<T> {
  if (config.kafkaSaslMechanism === '') {
    throw new NonRetriableError(
      'accounts-unavailable',
      'Parley comes to the broker without an account, and so makes none there.',
      {
        hint: 'Accounts begin with KAFKA_SASL_MECHANISM.',
      },
    );
  }
  const security = createSecurityAdmin(adminAccount(config));
  try {
    return await work({
      security,
      rotation: new Rotation(database, security, clock, config),
      retirement: new Retirement(database, security, clock),
      disabling: new Disabling(database, security, clock),
    });
  } finally {
    await security.close();
  }
}
