export { dataSourceOptions } from './data-source-options';
export { Database, query, queryAnew } from './database';
export { DatabaseMonitor } from './database-monitor';
export { DatabaseModule } from './database.module';
export { LostRace } from './lost-race';
export { migrate, pendingMigrations } from './migrate';
export { isDatabaseOutage, isRetriable, sqlState } from './retriable';
export { storable } from './storable';
export type { Tx } from './tx';
