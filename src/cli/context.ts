import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../migrations';
import { type Config, loadConfig } from '../platform/config';
import { Database, dataSourceOptions } from '../platform/database';
import { AppError } from '../platform/errors';

/** Opens the database for one command and closes it behind it; `change` is what that command has otherwise than the environment. */
export async function withDatabase<T>(
  work: (database: Database, config: Config) => Promise<T>,
  change: Partial<Config> = {},
): Promise<T> {
  const config = { ...loadConfig(), ...change };
  const dataSource = new DataSource(
    dataSourceOptions({ ...config, databasePoolSize: 2 }, { entities: [], migrations: MIGRATIONS }),
  );
  try {
    await dataSource.initialize();
  } catch (error) {
    throw new AppError('database-unreachable', 'The database cannot be reached.', {
      cause: error,
      hint: 'Check DATABASE_URL and that PostgreSQL runs.',
    });
  }
  try {
    return await work(new Database(dataSource), config);
  } finally {
    await dataSource.destroy();
  }
}
