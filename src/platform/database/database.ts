import type { DataSource } from 'typeorm';
import type { PoolClient, QueryResultRow } from 'pg';
import { AppError } from '../errors';
import { sleep } from '../polling';
import { arrayLiteral } from './array-literal';
import { named } from './named';
import { sqlState } from './retriable';
import type { Tx } from './tx';

/** What pg's client knows and its types don't say. */
type TransactionClient = PoolClient & {
  /** False while an answer, or the end of one, is on its way. */
  readyForQuery: boolean;
  getTransactionStatus(): string | null;
};

/** Every transaction of Parley begins here. */
export class Database {
  constructor(readonly dataSource: DataSource) {}

  /** One statement outside a transaction; reading only. `:name` parameters as in {@link named}. */
  query<Row>(sql: string, values: Record<string, unknown> = {}): Promise<Row[]> {
    const [text, parameters] = named(sql, values);
    return this.dataSource.query<Row[]>(text, parameters);
  }

  /**
   * {@link query}, as a transaction of its own, which ends with the statement: saves the two round trips of BEGIN and COMMIT, and holds its locks
   * for none. For one that writes as well, where its repeat is harmless: PostgreSQL commits what waited for a lock though its process has died.
   * Tried again as a {@link transaction}.
   */
  statement<Row>(sql: string, values: Record<string, unknown> = {}): Promise<Row[]> {
    return again(async () => {
      const runner = this.dataSource.createQueryRunner();
      try {
        return await run<Row>((await runner.connect()) as PoolClient, sql, values, statementName);
      } finally {
        await runner.release();
      }
    });
  }

  /**
   * Runs `work` in a transaction (READ COMMITTED) and commits, or rolls back and rethrows. Deadlocks and serialization
   * failures are tried again up to 5 times, so `work` must have no effect outside the database.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return again(() => this.once(work));
  }

  private async once<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const client = (await runner.connect()) as TransactionClient;
      // READ COMMITTED by the connection's own default (data-source-options.ts): to say it here costs a round trip.
      await runner.startTransaction();
      clients.set(runner.manager, client);
      try {
        const result = await work(runner.manager);
        // A statement's error arrives before the word that its transaction failed: wait for that word behind another statement.
        if (!client.readyForQuery) await client.query('SELECT').catch(() => undefined);
        // COMMIT of a failed transaction answers ROLLBACK and TypeORM would report success: a swallowed error surfaces here.
        if (client.getTransactionStatus() === 'E') {
          throw new AppError(
            'transaction-aborted',
            'A statement of the transaction failed and its error was swallowed; nothing was written.',
          );
        }
        await runner.commitTransaction();
        return result;
      } catch (error) {
        if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
        throw error;
      }
    } finally {
      clients.delete(runner.manager);
      await runner.release();
    }
  }
}

/** Deadlocks and serialization failures undo all that was done: it is done again. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const state = sqlState(error);
      if (attempt >= 5 || (state !== '40P01' && state !== '40001')) throw error;
      await sleep(Math.random() * 20 * attempt);
    }
  }
}

/**
 * {@link Database.query} on an open transaction. PostgreSQL parses and plans each text once a connection (a fifth of what a small
 * transaction costs), so texts are constants: what varies goes into `values`.
 *
 * A kept plan fits the table as it was when it was made: a join with `unnest` that met a small one walks all of it until
 * autovacuum brings statistics, however large it has become. Such a statement goes through {@link queryAnew}.
 */
export function query<Row>(tx: Tx, sql: string, values: Record<string, unknown> = {}): Promise<Row[]> {
  return runIn(tx, sql, values, statementName);
}

/** {@link query}, planned anew each time, for the table as large as it is. */
export function queryAnew<Row>(tx: Tx, sql: string, values: Record<string, unknown> = {}): Promise<Row[]> {
  return runIn(tx, sql, values, () => undefined);
}

type Naming = (text: string) => string | undefined;

function runIn<Row>(tx: Tx, sql: string, values: Record<string, unknown>, nameOf: Naming): Promise<Row[]> {
  const client = clients.get(tx);
  // Over, or wrapped by a test: TypeORM's way, which refuses what is over.
  return client ? run(client, sql, values, nameOf) : tx.query<Row[]>(...named(sql, values));
}

async function run<Row>(
  client: PoolClient,
  sql: string,
  values: Record<string, unknown>,
  nameOf: Naming,
): Promise<Row[]> {
  const [text, parameters] = named(sql, values);
  const literals = parameters.map((value) => (Array.isArray(value) ? (arrayLiteral(value) ?? value) : value));
  const result = await client.query<Row & QueryResultRow>({ name: nameOf(text), text, values: literals });
  return result.rows;
}

/** The connection of each open transaction; TypeORM's own way to it knows no prepared statements. */
const clients = new WeakMap<Tx, PoolClient>();

const statementNames = new Map<string, string>();

function statementName(text: string): string {
  let name = statementNames.get(text);
  if (!name) statementNames.set(text, (name = `parley_${statementNames.size}`));
  return name;
}
