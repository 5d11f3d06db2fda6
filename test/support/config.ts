import { type Config, loadConfig } from '../../src/platform/config';

/** The configuration of a process under test: the run's servers, free ports, quick ends. */
export function testConfig(databaseUrl: string, env: NodeJS.ProcessEnv = {}): Config {
  return loadConfig({
    DATABASE_URL: databaseUrl,
    KAFKA_BROKERS: process.env['TEST_KAFKA_BROKERS'],
    KAFKA_REPLICATION_FACTOR: '1',
    HTTP_PORT: '0',
    MANAGEMENT_PORT: '0',
    LOG_LEVEL: 'silent',
    ...env,
  });
}
