import { type Database, query, queryAnew } from './database';

/**
 * Reads what people's indexes hold, and a page's rows by their ids, one by one. Left alone the planner takes the conditions of two partial
 * indexes for independent ones, believes that few rows fulfil both, and gathers every dead letter's row; or it merges a page of 50 ids
 * with the whole table (`integration/triage/plans.spec.ts`).
 */
export class IndexedReader {
  constructor(private readonly database: Database) {}

  rows<Row>(sql: string, values: Record<string, unknown> = {}): Promise<Row[]> {
    return this.database.transaction(async (tx) => {
      await query(
        tx,
        `SELECT set_config(name, 'off', true) FROM unnest('{enable_bitmapscan,enable_seqscan,enable_hashjoin,enable_mergejoin,jit}'::text[]) name`,
      );
      return queryAnew<Row>(tx, sql, values);
    });
  }
}
