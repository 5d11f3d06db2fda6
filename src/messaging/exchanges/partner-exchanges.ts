import { query, type Tx } from '../../platform/database';
import type { Exchange } from './exchange';

/** An exchange that a partner begins and that is answered in the transaction which learns of it. */
export interface AnsweredExchange {
  correlationId: string;
  /** Contract name of the partner's document. */
  kind: string;
  orderNumber: string;
  requestMessageId: string;
  answerMessageId: string;
  answerCode: string;
}

/**
 * Exchanges that this partner began before, locked, by correlation id. Other partners' are not looked at: each chooses
 * correlation ids on its own, so that the same one is no sign of anything. Call it after the orders are locked.
 */
export async function lockAsked(
  tx: Tx,
  partner: string,
  correlationIds: readonly string[],
): Promise<Map<string, Pick<Exchange, 'correlationId' | 'kind' | 'orderNumber' | 'answerCode'>>> {
  const rows = await query<Pick<Exchange, 'correlationId' | 'kind' | 'orderNumber' | 'answerCode'>>(
    tx,
    `SELECT correlation_id AS "correlationId", kind, order_number AS "orderNumber", answer_code AS "answerCode"
     FROM exchange WHERE correlation_id = ANY(:correlationIds::text[]) AND partner = :partner AND direction = 'in'
     ORDER BY correlation_id FOR UPDATE`,
    { correlationIds, partner },
  );
  return new Map(rows.map((row) => [row.correlationId, row]));
}

/**
 * Writes exchanges that this partner began, with our answers, sorted: two of these never wait for each other in a circle.
 * Returns how many: fewer than were given when another transaction wrote one of them since {@link lockAsked}.
 */
export async function addAnswered(
  tx: Tx,
  partner: string,
  exchanges: readonly AnsweredExchange[],
  now: Date,
): Promise<number> {
  if (exchanges.length === 0) return 0;
  const column = <K extends keyof AnsweredExchange>(name: K) => exchanges.map((exchange) => exchange[name]);
  const rows = await query(
    tx,
    `INSERT INTO exchange (correlation_id, partner, direction, kind, order_number, request_message_id, state, opened_at, answer_message_id, answer_code, answered_at)
     SELECT c, :partner, 'in', k, o, m, 'answered', :now, a, r, :now
     FROM unnest(:correlationId::text[], :kind::text[], :orderNumber::text[], :messageId::text[], :answerId::text[], :code::text[]) u (c, k, o, m, a, r)
     ORDER BY c ON CONFLICT DO NOTHING RETURNING 1`,
    {
      partner,
      now,
      correlationId: column('correlationId'),
      kind: column('kind'),
      orderNumber: column('orderNumber'),
      messageId: column('requestMessageId'),
      answerId: column('answerMessageId'),
      code: column('answerCode'),
    },
  );
  return rows.length;
}
