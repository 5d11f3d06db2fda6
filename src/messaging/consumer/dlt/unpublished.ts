import { type Database } from '../../../platform/database';
import type { DeadLetterFacts } from './dead-letter-headers';

/** A dead letter that is to be shown on its topic. */
export interface UnpublishedLetter extends DeadLetterFacts {
  id: string;
  /** Failures of publishing it so far. */
  failures: number;
  key: Buffer | null;
  value: Buffer | null;
}

/** How many are not published yet, and why one of those that failed did. */
export interface Backlog {
  count: number;
  failed: number;
  trouble: { topic: string; partner: string; reason: string } | undefined;
}

/** Enough to know that there are many. */
const COUNTED = 10_000;

/** SQL: those of the messages that are under this lease; locked in the order in which everybody locks them. */
const LEASED = `SELECT id FROM parked_inbound WHERE id = ANY(:ids::bigint[]) AND dlt_next_at = :lease AND dlt_published_at IS NULL ORDER BY id FOR UPDATE`;

/** The dead letters that are not on their dead letter topic: rows of `parked_inbound`, which stay whatever becomes of publishing. */
export class Unpublished {
  constructor(private readonly database: Database) {}

  /**
   * Takes some that are due, with a lease to that time: no other process takes them meanwhile, and after that anybody may. One statement,
   * committed before anything is sent; whoever dies in between has published or not, and they are published (again) later.
   * What was resolved is not dead any more, and is not taken.
   */
  claim(limit: number, now: Date, lease: Date): Promise<UnpublishedLetter[]> {
    return this.database.query<UnpublishedLetter>(
      `WITH due AS (
         SELECT id FROM parked_inbound WHERE state = 'dead' AND dlt_published_at IS NULL AND dlt_next_at <= :now
         ORDER BY dlt_next_at, id LIMIT :limit FOR UPDATE SKIP LOCKED),
       claimed AS (
         UPDATE parked_inbound p SET dlt_next_at = :lease FROM due WHERE p.id = due.id RETURNING p.*)
       SELECT id, topic, partition, "offset", record_time AS "recordTime", raw_key AS key, raw_value AS value, header_names AS "headerNames",
         header_values AS "headerValues", coalesce(code, 'unknown') AS code, detail, attempts, first_failed_at AS "firstFailedAt", fingerprint,
         dlt_attempts AS failures
       FROM claimed ORDER BY id`,
      { limit, now, lease },
    );
  }

  /** The broker has them. Who has died again, or was taken by another since, has another lease: that one is yet to be shown. */
  async published(ids: readonly string[], lease: Date, now: Date): Promise<void> {
    await this.database.query(
      `UPDATE parked_inbound SET dlt_published_at = :now, dlt_trouble = NULL WHERE id IN (${LEASED})`,
      { ids, lease, now },
    );
  }

  /** They could not be published; tried again at `next`. What is not under this lease any more has no trouble. */
  async failed(ids: readonly string[], lease: Date, reason: string, next: Date): Promise<void> {
    await this.database.query(
      `UPDATE parked_inbound SET dlt_attempts = dlt_attempts + 1, dlt_trouble = :reason, dlt_next_at = :next WHERE id IN (${LEASED})`,
      { ids, lease, reason, next },
    );
  }

  /** Counts up to {@link COUNTED}: what is beyond costs nothing. */
  async backlog(): Promise<Backlog> {
    const [row] = await this.database.query<{
      count: number;
      failed: number;
      trouble: [topic: string, partner: string, reason: string] | null;
    }>(
      `SELECT count(*)::int AS count, count(dlt_trouble)::int AS failed, max(ARRAY[topic, partner, dlt_trouble]) FILTER (WHERE dlt_trouble IS NOT NULL) AS trouble
       FROM (SELECT topic, partner, dlt_trouble FROM parked_inbound WHERE state = 'dead' AND dlt_published_at IS NULL ORDER BY dlt_next_at LIMIT ${COUNTED}) letter`,
    );
    const [topic, partner, reason] = row?.trouble ?? [];
    return {
      count: row?.count ?? 0,
      failed: row?.failed ?? 0,
      trouble:
        topic !== undefined && partner !== undefined && reason !== undefined ? { topic, partner, reason } : undefined,
    };
  }
}
