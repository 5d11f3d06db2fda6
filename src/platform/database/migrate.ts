import type { DataSource } from 'typeorm';

/** Advisory lock under which migrations run, so that two processes never run them at once. */
const MIGRATION_LOCK = 7_275_391;

/** Runs all pending migrations, each in its own transaction, under an advisory lock. Returns the names of those that ran. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  await runner.connect();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      return (await dataSource.runMigrations({ transaction: 'each' })).map((migration) => migration.name);
    } finally {
      await runner.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    await runner.release();
  }
}

/** Names of the migrations that this build knows and the database has not run. Empty: ready to serve. */
export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const [table] = await dataSource.query<{ exists: boolean }[]>(
    `SELECT to_regclass('schema_migration') IS NOT NULL AS exists`,
  );
  const done = table?.exists ? await dataSource.query<{ name: string }[]>('SELECT name FROM schema_migration') : [];
  const names = new Set(done.map((row) => row.name));
  return dataSource.migrations
    .map((migration) => migration.name ?? migration.constructor.name)
    .filter((name) => !names.has(name));
}
