import { type Database, query, queryAnew, type Tx } from '../../platform/database';
import type { PartnerStop, Verdict } from './domain/deadline';
import type { Exchange } from './exchange';
import { COLUMNS, lookAtFor } from './exchanges';

/** An exchange that may be due, as seen without a lock. */
export interface Candidate {
  correlationId: string;
  orderNumber: string;
  kind: string;
  lookAt: Date;
}

/** What is still to be looked at of a partner's answers on one topic. */
export interface Window {
  partner: string;
  /** Requests that are answered on the topic. */
  kinds: readonly string[];
  /** All before it has been looked at; null: nothing has. */
  after: Date | null;
  upTo: Date;
}

/** The watcher's SQL over the ledger. */
export class DueExchanges {
  constructor(private readonly database: Database) {}

  /**
   * Open exchanges to be looked at, soonest first. One range of exchange_look_at: it begins where the last pass ended, so that what was
   * closed before that costs nothing.
   */
  candidates({ partner, kinds, after, upTo }: Window, limit: number): Promise<Candidate[]> {
    return this.database.query<Candidate>(
      `SELECT correlation_id AS "correlationId", order_number AS "orderNumber", kind, look_at AS "lookAt" FROM exchange
       WHERE partner = :partner AND look_at >= coalesce(:after::timestamptz, '-infinity') AND look_at <= :upTo
         AND direction = 'out' AND kind = ANY(:kinds::text[]) AND state IN ('awaiting', 'acknowledged')
       ORDER BY look_at LIMIT :limit`,
      { partner, kinds, after, upTo, limit },
    );
  }

  /**
   * Locks them, and gives those that are still open and to be looked at by then; an answer that came meanwhile has won. Asked by the
   * primary key alone: with `look_at` in the condition, a plan kept for any values would walk all that is closed.
   */
  async lockDue(
    tx: Tx,
    partner: string,
    correlationIds: readonly string[],
    upTo: Date,
  ): Promise<(Exchange & { deadline: Date })[]> {
    const rows = await queryAnew<Exchange & { lookAt: Date | null }>(
      tx,
      `SELECT ${COLUMNS}, look_at AS "lookAt" FROM exchange WHERE correlation_id = ANY(:correlationIds::text[]) AND partner = :partner AND direction = 'out'
       ORDER BY correlation_id FOR UPDATE`,
      { correlationIds, partner },
    );
    return rows.flatMap(({ lookAt, deadline, ...exchange }) =>
      (exchange.state === 'awaiting' || exchange.state === 'acknowledged') && deadline && lookAt && lookAt <= upTo
        ? [{ ...exchange, deadline }]
        : [],
    );
  }

  /** When nothing was sent to the partner, as far as it ended since then. */
  stops(tx: Tx, partner: string, since: Date): Promise<PartnerStop[]> {
    return query<PartnerStop>(
      tx,
      `SELECT stopped_at AS "from", resumed_at AS "to" FROM partner_stop WHERE partner = :partner AND resumed_at >= :since ORDER BY stopped_at`,
      { partner, since },
    );
  }

  /** Writes verdicts on locked exchanges; of those that were sent again also where. */
  async settle(
    tx: Tx,
    verdicts: ReadonlyMap<Exchange, Verdict>,
    resentAs: ReadonlyMap<string, { seq: string }>,
    now: Date,
  ): Promise<void> {
    const rows = [...verdicts].map(([exchange, verdict]) => ({
      ...exchange,
      after: verdict.kind === 'overdue' ? 'overdue' : exchange.state,
      seq: verdict.kind === 'resend' ? (resentAs.get(exchange.requestMessageId)?.seq ?? null) : null,
      due: 'deadline' in verdict ? verdict.deadline : null,
      lookAt: verdict.kind === 'overdue' ? null : verdict.kind === 'wait' ? verdict.lookAt : verdict.deadline,
      reason: verdict.kind === 'overdue' ? verdict.reason : null,
    }));
    if (rows.length === 0) return;
    await queryAnew(
      tx,
      `UPDATE exchange e SET state = s, deadline = coalesce(d, e.deadline), look_at = ${lookAtFor('l')}, resent_seq = coalesce(q, e.resent_seq),
         resends = e.resends + CASE WHEN q IS NULL THEN 0 ELSE 1 END,
         ended_at = CASE WHEN s = 'overdue' THEN :now::timestamptz ELSE e.ended_at END, end_reason = coalesce(r, e.end_reason)
       FROM unnest(:correlationIds::text[], :partners::text[], :states::text[], :dues::timestamptz[], :lookAts::timestamptz[], :seqs::bigint[], :reasons::text[]) u(c, p, s, d, l, q, r)
       WHERE e.correlation_id = c AND e.partner = p AND e.direction = 'out'`,
      {
        now,
        correlationIds: rows.map(({ correlationId }) => correlationId),
        partners: rows.map(({ partner }) => partner),
        states: rows.map(({ after }) => after),
        dues: rows.map(({ due }) => due),
        lookAts: rows.map(({ lookAt }) => lookAt),
        seqs: rows.map(({ seq }) => seq),
        reasons: rows.map(({ reason }) => reason),
      },
    );
  }

  /** Looks again later at one that could not be dealt with, so that it doesn't keep the others. */
  async putOff(tx: Tx, partner: string, correlationId: string, lookAt: Date): Promise<void> {
    await query(
      tx,
      `UPDATE exchange SET look_at = ${lookAtFor(':lookAt::timestamptz')}
       WHERE correlation_id = :correlationId AND partner = :partner AND direction = 'out' AND look_at < ${lookAtFor(':lookAt::timestamptz')}`,
      { correlationId, partner, lookAt },
    );
  }
}
