import type { Direction } from '../../contracts';
import { type Database, query, queryAnew, type Tx } from '../../platform/database';
import type { Logger } from '../../platform/telemetry';
import { DeadlineHandlers } from './deadline-handlers';
import { type Exchange, type ExchangeAnswer, OPEN_EXCHANGE_STATES } from './exchange';

export const COLUMNS = `correlation_id AS "correlationId", partner, direction, kind, order_number AS "orderNumber", request_message_id AS "requestMessageId",
  request_seq AS "requestSeq", resent_seq AS "resentSeq", state, deadline, resends, opened_at AS "openedAt", answer_message_id AS "answerMessageId", answer_code AS "answerCode",
  answered_at AS "answeredAt", ended_at AS "endedAt", end_reason AS "endReason"`;

/** How far ahead of the database's clock a `look_at` is written, at least. */
const LEAST_AHEAD = `interval '1 minute'`;

/**
 * SQL: when the watcher looks at this deadline (null: never). Not where all may have been judged already, which a writer whose clock is
 * behind would have it: nobody would ever look there.
 */
export const lookAtFor = (deadline: string): string =>
  `CASE WHEN ${deadline} IS NOT NULL THEN greatest(${deadline}, now() + ${LEAST_AHEAD}) END`;

export type NewExchange = Pick<
  Exchange,
  | 'correlationId'
  | 'partner'
  | 'direction'
  | 'kind'
  | 'orderNumber'
  | 'requestMessageId'
  | 'requestSeq'
  | 'deadline'
  | 'openedAt'
>;

/** What ends exchanges without an answer. */
export interface Withdrawal {
  partner: string;
  direction: Direction;
  correlationIds: readonly string[];
  /** For people. */
  reason: string;
  now: Date;
}

/** The request/response ledger. Everything is keyed under its partner: nobody answers another's exchange. */
export class Exchanges {
  /** What happens at a deadline: rooms register here what they do about theirs. */
  readonly deadlines = new DeadlineHandlers();

  /** @param logger where a message that names another partner's exchange is reported as a security event */
  constructor(private readonly logger?: Logger) {}

  /** Opens exchanges in the transaction that also writes their requests. */
  async open(tx: Tx, exchanges: readonly NewExchange[]): Promise<void> {
    if (exchanges.length === 0) return;
    await query(
      tx,
      `INSERT INTO exchange (correlation_id, partner, direction, kind, order_number, request_message_id, request_seq, state, deadline, look_at, opened_at)
       SELECT c, p, d, k, o, m, s, 'awaiting', l, ${lookAtFor('l')}, t
       FROM unnest(:correlationId::text[], :partner::text[], :direction::text[], :kind::text[], :orderNumber::text[], :messageId::text[], :seq::bigint[], :deadline::timestamptz[], :openedAt::timestamptz[])
         u(c, p, d, k, o, m, s, l, t)`,
      {
        correlationId: exchanges.map((exchange) => exchange.correlationId),
        partner: exchanges.map((exchange) => exchange.partner),
        direction: exchanges.map((exchange) => exchange.direction),
        kind: exchanges.map((exchange) => exchange.kind),
        orderNumber: exchanges.map((exchange) => exchange.orderNumber),
        messageId: exchanges.map((exchange) => exchange.requestMessageId),
        seq: exchanges.map((exchange) => exchange.requestSeq),
        deadline: exchanges.map((exchange) => exchange.deadline),
        openedAt: exchanges.map((exchange) => exchange.openedAt),
      },
    );
  }

  /**
   * Locks this partner's exchanges with these correlation ids. The result also holds another partner's exchange where the
   * id is only theirs: seen to be reported, never locked; tell them apart with `ownExchange`. Call it after the
   * orders are locked (lock order: orders, then exchanges).
   */
  async lock(
    tx: Tx,
    partner: string,
    direction: Direction,
    correlationIds: readonly string[],
  ): Promise<Map<string, Exchange>> {
    const found = new Map<string, Exchange>();
    // A second look, in a new statement, before an answer is called unknown: READ COMMITTED may only now see a request
    // that committed meanwhile.
    for (const look of ['own', 'own', 'foreign'] as const) {
      const ids = [...new Set(correlationIds)].filter((id) => !found.has(id));
      if (ids.length === 0) break;
      const rows =
        look === 'own'
          ? await this.lockOwn(tx, partner, direction, ids)
          : await this.findForeign(tx, partner, direction, ids);
      for (const exchange of rows) found.set(exchange.correlationId, exchange);
    }
    return found;
  }

  /** These exchanges of this partner, in both directions, oldest first. */
  ofPartner(database: Database, partner: string, correlationIds: readonly string[]): Promise<Exchange[]> {
    return database.query<Exchange>(
      `SELECT ${COLUMNS} FROM exchange WHERE correlation_id = ANY(:correlationIds::text[]) AND partner = :partner ORDER BY opened_at, request_seq, correlation_id`,
      { correlationIds, partner },
    );
  }

  /**
   * Records answers of locked exchanges. The last one of an exchange in the list stands. A final one leaves every indexed column as it
   * was, so that the update stays heap-only.
   */
  async answer(tx: Tx, answers: readonly ExchangeAnswer[]): Promise<void> {
    const last = [...new Map(answers.map((answer) => [answer.correlationId, answer])).values()];
    if (last.length === 0) return;
    await queryAnew(
      tx,
      `UPDATE exchange e SET state = s, answer_message_id = m, answer_code = a, answered_at = t, deadline = coalesce(l, e.deadline), look_at = coalesce(${lookAtFor('l')}, e.look_at)
       FROM unnest(:correlationId::text[], :partner::text[], :direction::text[], :state::text[], :messageId::text[], :code::text[], :at::timestamptz[], :deadline::timestamptz[])
         u(c, p, d, s, m, a, t, l)
       WHERE e.correlation_id = c AND e.partner = p AND e.direction = d`,
      {
        correlationId: last.map((answer) => answer.correlationId),
        partner: last.map((answer) => answer.partner),
        direction: last.map((answer) => answer.direction),
        state: last.map((answer) => answer.state),
        messageId: last.map((answer) => answer.messageId),
        code: last.map((answer) => answer.code),
        at: last.map((answer) => answer.at),
        deadline: last.map((answer) => answer.deadline ?? null),
      },
    );
  }

  /** Ends those of this partner's exchanges that are open; the others stay as they are. The caller holds the lock of their orders. */
  async withdraw(tx: Tx, { partner, direction, correlationIds, reason, now }: Withdrawal): Promise<void> {
    if (correlationIds.length === 0) return;
    await queryAnew(
      tx,
      `UPDATE exchange SET state = 'withdrawn', ended_at = :now, end_reason = :reason
       WHERE correlation_id = ANY(:correlationIds::text[]) AND partner = :partner AND direction = :direction AND state = ANY(:open::text[])`,
      { correlationIds, partner, direction, reason, now, open: OPEN_EXCHANGE_STATES },
    );
  }

  private lockOwn(tx: Tx, partner: string, direction: Direction, ids: readonly string[]): Promise<Exchange[]> {
    return query<Exchange>(
      tx,
      `SELECT ${COLUMNS} FROM exchange WHERE correlation_id = ANY(:ids::text[]) AND partner = :partner AND direction = :direction
       ORDER BY correlation_id FOR UPDATE`,
      { ids, partner, direction },
    );
  }

  private async findForeign(
    tx: Tx,
    partner: string,
    direction: Direction,
    ids: readonly string[],
  ): Promise<Exchange[]> {
    const foreign = await query<Exchange>(
      tx,
      `SELECT ${COLUMNS} FROM exchange WHERE correlation_id = ANY(:ids::text[]) AND partner <> :partner AND direction = :direction`,
      { ids, partner, direction },
    );
    for (const { correlationId, partner: owner } of foreign) {
      this.logger?.warn(
        { security: true, code: 'exchange-foreign', partner, owner, correlation_id: correlationId },
        "a message names another partner's exchange",
      );
    }
    return foreign;
  }
}
