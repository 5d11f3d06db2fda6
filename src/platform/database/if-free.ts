import type { Database } from './database';

/** First key of these advisory locks; the second is a hash of the name. */
const LOCKS = 0x7061;

/** Runs `work` if nobody else in the installation does anything under this name; else undefined. The lock is the connection's, so it ends with a process that dies. */
export async function ifFree<T>(database: Database, name: string, work: () => Promise<T>): Promise<T | undefined> {
  const runner = database.dataSource.createQueryRunner();
  try {
    const [row] = await runner.manager.query<{ locked: boolean }[]>(
      'SELECT pg_try_advisory_lock($1, hashtext($2)) AS locked',
      [LOCKS, name],
    );
    if (!row?.locked) return undefined;
    try {
      return await work();
    } finally {
      await runner.manager.query('SELECT pg_advisory_unlock($1, hashtext($2))', [LOCKS, name]).catch(() => undefined);
    }
  } finally {
    await runner.release();
  }
}
