import { type Database, IndexedReader } from '../../platform/database';

/** Dead letters of one partner that need somebody. */
export interface OpenDeadLetters {
  partner: string;
  count: number;
  /** When the oldest and the newest of them died. */
  oldest: Date;
  newest: Date;
  /** What most of them died of, most frequent first. */
  causes: { code: string; count: number }[];
}

const MOST_CAUSES = 3;

/** By partner; who has none is left out. From the index alone, so that what is resolved costs nothing. */
export function openDeadLetters(database: Database): Promise<OpenDeadLetters[]> {
  return new IndexedReader(database).rows<OpenDeadLetters>(
    `SELECT partner, sum(n)::int AS count, min(first) AS oldest, max(last) AS newest,
       to_json((array_agg(json_build_object('code', code, 'count', n) ORDER BY n DESC, code))[1:${MOST_CAUSES}]) AS causes
     FROM (
       SELECT partner, coalesce(code, 'unknown') AS code, count(*)::int AS n, min(last_failed_at) AS first, max(last_failed_at) AS last
       FROM parked_inbound WHERE state = 'dead' GROUP BY 1, 2
     ) of_cause WHERE last IS NOT NULL GROUP BY 1 ORDER BY 1`,
  );
}
