import { type AnyContract, CONTRACTS } from '../../contracts';
import type { Database } from '../../platform/database';

/**
 * How many of these requests wait for their answer and are not overdue, by partner; who owes none is left out. They lie where nothing has
 * been judged yet, so what was closed before that costs nothing; what was opened since and is closed does.
 */
export function openExchanges(database: Database, request: AnyContract): Promise<{ partner: string; count: number }[]> {
  const template = CONTRACTS.find(({ answers }) => answers === request.name)?.topic ?? '';
  return database.query<{ partner: string; count: number }>(
    `SELECT c.partner, o.count
     FROM channel c LEFT JOIN reply_watch w USING (topic) CROSS JOIN LATERAL (
       SELECT count(*)::int FROM exchange e
       WHERE e.partner = c.partner AND e.look_at >= coalesce(w.judged_up_to - interval '1 minute', '-infinity')
         AND e.direction = 'out' AND e.kind = :kind AND e.state IN ('awaiting', 'acknowledged')
     ) o (count)
     WHERE c.topic = replace(:template, '{partner}', c.partner) AND o.count > 0`,
    { kind: request.name, template },
  );
}
