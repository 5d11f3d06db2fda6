import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../migrations';
import { migrate } from '../../src/platform/database';

/** A database of its own for one test file: a copy of the migrated template. Returns its URL. */
export async function freshDatabase(): Promise<string> {
  const [base, run] = [process.env['TEST_PG_URL'], process.env['TEST_PG_RUN']];
  if (!base || !run) throw new Error('TEST_PG_URL is not set: specs run under the global setup');
  const name = `t_${run}_${randomBytes(5).toString('hex')}`;
  const client = new Client({ connectionString: `${base}postgres` });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE parley_template_${run}`);
  } finally {
    await client.end();
  }
  return `${base}${name}`;
}

/** Brings an empty database to the schema of this build. */
export async function migrateDatabase(url: string): Promise<void> {
  const dataSource = await new DataSource({
    type: 'postgres',
    url,
    migrations: MIGRATIONS,
    migrationsTableName: 'schema_migration',
    installExtensions: false,
  }).initialize();
  try {
    await migrate(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
