import { Client, type ClientConfig } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import type { Config } from '../config';

type DatabaseConfig = Pick<
  Config,
  'databaseUrl' | 'databasePoolSize' | 'databaseConnectTimeout' | 'databaseStatementTimeout' | 'instanceId'
>;

/** How every connection of the pool is made; `parts` are the entities and migrations, which only `app.module` knows. */
export function dataSourceOptions(
  config: DatabaseConfig,
  parts: Pick<DataSourceOptions, 'entities' | 'migrations'>,
): DataSourceOptions {
  return {
    type: 'postgres',
    url: config.databaseUrl,
    applicationName: `parley ${config.instanceId}`.slice(0, 63),
    poolSize: config.databasePoolSize,
    connectTimeoutMS: config.databaseConnectTimeout,
    synchronize: false,
    migrationsRun: false,
    migrationsTableName: 'schema_migration',
    installExtensions: false,
    logging: false,
    extra: {
      Client: clientOf(config),
      statement_timeout: config.databaseStatementTimeout,
      idle_in_transaction_session_timeout: config.databaseStatementTimeout * 2,
      keepAlive: true,
      // Whatever the server's or the database's default: every row lock and every second look of ours counts on it.
      options: '-c default_transaction_isolation=read\\ committed',
    },
    ...parts,
  };
}

/**
 * A pool keeps what it was made with: so each of its connections asks for the URL itself, and a rotated password counts from the next one on.
 *
 * Who was given a connection listens to it a moment after the pool has ceased to. Where a server that dies says so in the same breath in which it
 * let us in, nobody listened, and the error ended the process. Who uses the connection meets its end all the same.
 */
function clientOf(config: Pick<Config, 'databaseUrl'>): typeof Client {
  return class extends Client {
    constructor(options: ClientConfig) {
      super({ ...options, connectionString: config.databaseUrl });
      this.on('error', () => undefined);
    }
  };
}
