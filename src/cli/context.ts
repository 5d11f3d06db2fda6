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

/** One line on standard error: progress and hints never mix with the result. */
export function hint(line: string): void {
  process.stderr.write(`${oneLine(line)}\n`);
}

/** Names and words of registries and partners stay within their line, and give a terminal no orders. */
export function oneLine(text: string): string {
  return text.replaceAll(/[^\P{C}\t]|[\u2028\u2029]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

/** The result on standard output: JSON when asked for, else the given lines. */
export function print(json: boolean, value: unknown, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : lines.map((line) => `${oneLine(line)}\n`).join(''));
}
