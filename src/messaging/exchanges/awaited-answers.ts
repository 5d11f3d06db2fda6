import { CONTRACTS } from '../../contracts';
import type { Database } from '../../platform/database';

/** Answers that a partner owes us, overdue ones included. */
export interface AwaitedAnswers {
  partner: string;
  count: number;
  /** When the oldest of their requests was made. */
  oldest: Date;
  /** Until when all topics of its answers have been read; null: nobody has said of one of them. */
  readUpTo: Date | null;
}

const TEMPLATES = [
  ...new Set(CONTRACTS.filter(({ answers, direction }) => answers && direction === 'in').map(({ topic }) => topic)),
];

/**
 * What these partners owe us; who owes nothing is left out. What is not overdue lies where nothing has been judged yet (as in `openExchanges`),
 * the rest in exchange_ended; so what was answered in time costs nothing.
 */
export function awaitedAnswers(database: Database, partners: readonly string[]): Promise<AwaitedAnswers[]> {
  return database.query<AwaitedAnswers>(
    `SELECT p.partner, o.count, o.oldest, w."readUpTo"
     FROM unnest(:partners::text[]) p (partner) CROSS JOIN LATERAL (
       SELECT CASE WHEN bool_and(w.read_up_to IS NOT NULL) THEN min(w.read_up_to) END AS "readUpTo", min(coalesce(w.judged_up_to, '-infinity')) AS judged
       FROM unnest(:templates::text[]) template JOIN channel c ON c.topic = replace(template, '{partner}', p.partner) LEFT JOIN reply_watch w ON w.topic = c.topic
     ) w CROSS JOIN LATERAL (
       SELECT count(*)::int AS count, min(opened_at) AS oldest FROM (
         SELECT e.opened_at FROM exchange e
         WHERE e.partner = p.partner AND e.look_at >= w.judged - interval '1 minute' AND e.direction = 'out' AND e.state IN ('awaiting', 'acknowledged')
         UNION ALL
         SELECT e.opened_at FROM exchange e WHERE e.partner = p.partner AND e.ended_at IS NOT NULL AND e.direction = 'out' AND e.state = 'overdue'
       ) open
     ) o WHERE o.count > 0`,
    { partners, templates: TEMPLATES },
  );
}
