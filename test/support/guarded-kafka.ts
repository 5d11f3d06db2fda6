import { randomBytes } from 'node:crypto';
import { type Account, type KafkaOptions, type SecureKafka, startKafka } from '../../scripts/servers/index.mjs';
import type { KafkaDoor } from './kafka';

/** A broker that lets nobody in without TLS and an account, nor do anything without a right, and whom it knows from the start. */
export interface GuardedKafka {
  readonly brokers: string;
  readonly caFile: string;
  /** May everything: the account of onboarding. */
  readonly admin: Account;
  /** May nothing until onboarding gives it rights. */
  readonly parley: Account;
}

/** The run's, which all specs share. */
export function guardedKafka(): GuardedKafka {
  const known = process.env['TEST_KAFKA_GUARDED'];
  if (!known) throw new Error('TEST_KAFKA_GUARDED is not set: specs run under the global setup');
  return JSON.parse(known) as GuardedKafka;
}

/** For a broker that nobody kills: on a machine that stands still for seconds it must not be taken for dead, and lead nothing for a while. */
export const NEVER_KILLED = { 'broker.session.timeout.ms': 60_000 };

/** Another; whoever starts it stops it. */
export async function startGuardedKafka(
  options: KafkaOptions & { open?: boolean; mtls?: boolean } = {},
): Promise<SecureKafka & GuardedKafka> {
  const parley = { username: 'parley', password: randomBytes(24).toString('base64url') };
  return Object.assign(await startKafka({ ...options, secure: true, accounts: [parley] }), { parley });
}

/** The way in for an account: of the administrator, of Parley, of a partner. */
export const doorOf = ({ brokers, caFile }: GuardedKafka, account: Account): KafkaDoor => ({
  brokers,
  caFile,
  account,
});

/** Environment of a Parley that runs under its own account. */
export const asParley = ({ brokers, caFile, parley }: GuardedKafka): NodeJS.ProcessEnv => ({
  KAFKA_BROKERS: brokers,
  KAFKA_SSL: 'true',
  KAFKA_CA_FILE: caFile,
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: parley.username,
  KAFKA_SASL_PASSWORD: parley.password,
  KAFKA_REPLICATION_FACTOR: '1',
});

/** What a command of the administrator has beside that, and no process that runs. */
export const asAdministrator = ({ admin }: GuardedKafka): NodeJS.ProcessEnv => ({
  KAFKA_ADMIN_USERNAME: admin.username,
  KAFKA_ADMIN_PASSWORD: admin.password,
});

/** Options and environment by which the simulated partner comes in. */
export const asPartner = ({ brokers, caFile, account }: KafkaDoor) => ({
  args: ['--brokers', brokers, '--ca', caFile, '--username', account.username],
  env: { PARTNER_PASSWORD: account.password },
});
