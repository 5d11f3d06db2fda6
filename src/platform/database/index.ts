export { dataSourceOptions } from './data-source-options';
export { Database, query, queryAnew } from './database';
export { DatabaseMonitor } from './database-monitor';
export { DatabaseModule } from './database.module';
export { migrate, pendingMigrations } from './migrate';
export { isDatabaseOutage, isRetriable, sqlState } from './retriable';
export type { Tx } from './tx';
