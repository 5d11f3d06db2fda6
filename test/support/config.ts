import { type Config, loadConfig } from '../../src/platform/config';

/** A machine that is busy, or stands still for seconds, lets nobody in for a while: no test is about that unless it says so. */
export const PATIENT = { DATABASE_CONNECT_TIMEOUT_MS: '20000' };

/** And it fills tables by the ten thousand all the same, in statements of a test. */
export const FILLING = { ...PATIENT, DATABASE_STATEMENT_TIMEOUT_MS: '60000' };

/** The configuration of a process under test: the run's servers, free ports, quick ends. */
export function testConfig(databaseUrl: string, env: NodeJS.ProcessEnv = {}): Config {
  return loadConfig({
    DATABASE_URL: databaseUrl,
    KAFKA_BROKERS: process.env['TEST_KAFKA_BROKERS'],
    KAFKA_REPLICATION_FACTOR: '1',
    HTTP_PORT: '0',
    MANAGEMENT_PORT: '0',
    LOG_LEVEL: 'silent',
    ...PATIENT,
    ...env,
  });
}
