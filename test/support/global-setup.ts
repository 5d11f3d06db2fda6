import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { startPostgres } from '../../scripts/postgres.mjs';
import { MIGRATIONS } from '../../migrations';
import { migrate } from '../../src/platform/database';

declare global {
  var __postgres: { stop(): Promise<void> } | undefined;
}

export default async function globalSetup(): Promise<void> {
  const pg = await startPostgres();
  globalThis.__postgres = pg;
  await pg.createDatabase('parley_template');
  const ds = await new DataSource({
    type: 'postgres',
    url: pg.url('parley_template'),
    migrations: MIGRATIONS,
    migrationsTableName: 'schema_migration',
  }).initialize();
  await migrate(ds);
  await ds.destroy();
  process.env['TEST_PG_URL'] = pg.url('');
}
