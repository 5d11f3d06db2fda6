import { type Database, query, queryAnew, type Tx } from '../platform/database';
import type { Cancellation, Order, OrderEventDetail, OrderLine, Overdue } from './domain/order';
import type { OrderEventEntity } from './order.entity';

/** An order about to be written, with the Idempotency-Key that stands for it. */
export interface NewOrder {
  orderNumber: string;
  partner: string;
  currency: string;
  /** JSON text of the lines. */
  linesJson: string;
  /** JSON text of the contact; null where there is none. */
  contactJson: string | null;
  caller: string;
  key: string;
  /** 64 bits of (caller, key), decimal text: what the try-lock is taken on. */
  keyLock: string;
  requestHash: Buffer;
}

/** What became of a {@link NewOrder}: `locked` the key is not being used elsewhere, `fresh` its row is new, `placed` so is the order. */
export interface Claim {
  locked: boolean;
  fresh: boolean;
  placed: boolean;
}

export type IdempotencyKey = Pick<NewOrder, 'caller' | 'key'>;

/** The order that an earlier request with the same key placed. */
export interface Earlier extends IdempotencyKey {
  requestHash: Buffer;
  order: Order;
}

/** What a decision needs of an order; from {@link OrderRepository.lock} `lines` is empty unless asked for. */
export type LockedOrder = Pick<
  Order,
  'orderNumber' | 'partner' | 'state' | 'version' | 'lines' | 'agreedLines' | 'cancellation' | 'overdue' | 'deadline'
>;

export type NewEvent = Omit<OrderEventEntity, 'at' | 'detail'> & { detail: OrderEventDetail | null };

const COLUMNS = `o.order_number AS "orderNumber", o.partner, o.state, o.version, o.currency, o.lines, o.contact, o.agreed_lines AS "agreedLines",
  o.cancellation, o.overdue, o.deadline, o.created_at AS "createdAt", o.updated_at AS "updatedAt"`;

/** The SQL of this room, set-based, one statement a method. */
export class OrderRepository {
  constructor(private readonly database: Database) {}

  /** Parley's own order numbers. Numbers that are drawn and not used are gaps. */
  async drawNumbers(count: number): Promise<string[]> {
    const rows = await this.database.query<{ n: string }>(
      `SELECT 'PO-' || lpad(nextval('order_number_seq')::text, 9, '0') AS n FROM generate_series(1, :count::int)`,
      { count },
    );
    return rows.map((row) => row.n);
  }

  /**
   * Takes each key's try-lock, claims the key, and inserts the order: three answers per entry, in the order given. Nothing
   * waits for a key; an order number waits only for a transaction that is inserting the same one, and since numbers are
   * inserted in sorted order two of these never wait for each other. Order numbers must differ within one call, as must keys.
   * A key that is `fresh` while its order is not `placed` must be given back by {@link releaseKeys} in the same transaction.
   */
  async claim(tx: Tx, orders: readonly NewOrder[], now: Date, deadline: Date): Promise<Claim[]> {
    const column = <K extends keyof NewOrder>(name: K) => orders.map((order) => order[name]);
    return query<Claim>(
      tx,
      `WITH entry AS MATERIALIZED (
         SELECT u.*, pg_try_advisory_xact_lock(u.key_lock) AS locked
         FROM unnest(:keyLock::bigint[], :caller::text[], :key::text[], :requestHash::bytea[], :orderNumber::text[], :partner::text[], :currency::text[], :lines::text[], :contact::text[])
           WITH ORDINALITY u (key_lock, caller, key, request_hash, order_number, partner, currency, lines, contact, i)
       ), claimed AS (
         INSERT INTO idempotency_key (caller, key, request_hash, order_number, created_at)
         SELECT caller, key, request_hash, order_number, :now FROM entry WHERE locked ORDER BY caller, key
         ON CONFLICT DO NOTHING RETURNING caller, key
       ), placed AS (
         INSERT INTO orders (order_number, partner, state, version, currency, lines, contact, deadline, created_at, updated_at)
         SELECT order_number, partner, 'placed', 1, currency, lines::jsonb, contact::jsonb, :deadline, :now, :now
         FROM entry JOIN claimed USING (caller, key) ORDER BY order_number
         ON CONFLICT DO NOTHING RETURNING order_number
       )
       SELECT locked, c.key IS NOT NULL AS fresh, p.order_number IS NOT NULL AS placed
       FROM entry e LEFT JOIN claimed c USING (caller, key) LEFT JOIN placed p USING (order_number) ORDER BY e.i`,
      {
        keyLock: column('keyLock'),
        caller: column('caller'),
        key: column('key'),
        requestHash: column('requestHash'),
        orderNumber: column('orderNumber'),
        partner: column('partner'),
        currency: column('currency'),
        lines: column('linesJson'),
        contact: column('contactJson'),
        now,
        deadline,
      },
    );
  }

  /** Gives back the keys of orders that were not placed. */
  async releaseKeys(tx: Tx, keys: readonly IdempotencyKey[]): Promise<void> {
    await queryAnew(
      tx,
      `DELETE FROM idempotency_key WHERE (caller, key) IN (SELECT * FROM unnest(:callers::text[], :keys::text[]))`,
      columnsOf(keys),
    );
  }

  /** The orders that these keys placed. A later statement than {@link claim}, so that it sees what claim ran into. */
  async earlier(tx: Tx, keys: readonly IdempotencyKey[]): Promise<Earlier[]> {
    const rows = await queryAnew<IdempotencyKey & { requestHash: Buffer } & Order>(
      tx,
      `SELECT k.caller, k.key, k.request_hash AS "requestHash", ${COLUMNS}
       FROM idempotency_key k JOIN orders o USING (order_number)
       WHERE (k.caller, k.key) IN (SELECT * FROM unnest(:callers::text[], :keys::text[]))`,
      columnsOf(keys),
    );
    return rows.map(({ caller, key, requestHash, ...order }) => ({ caller, key, requestHash, order }));
  }

  /**
   * Locks the orders of this partner, sorted by number; another partner's are as good as unknown. Reads lines only of `linesOf`.
   * The collation keeps the planner from walking all of the partner's orders in orders_partner_created, which without
   * statistics looks cheaper than the primary key (26 ms for 130 orders among 50,000, and growing with them). Planned anew: a plan
   * kept from when the table was small walks all of it.
   */
  lock(tx: Tx, partner: string, orderNumbers: readonly string[], linesOf: readonly string[]): Promise<LockedOrder[]> {
    return queryAnew<LockedOrder>(
      tx,
      `SELECT order_number AS "orderNumber", partner, state, version, deadline, agreed_lines AS "agreedLines", cancellation, overdue,
         CASE WHEN order_number = ANY(:linesOf::text[]) THEN lines ELSE '[]' END AS lines
       FROM orders WHERE order_number = ANY(:orderNumbers::text[]) AND partner COLLATE "C" = :partner ORDER BY order_number FOR UPDATE`,
      { partner, orderNumbers, linesOf },
    );
  }

  /** Where this partner's orders stand, unlocked: for advice, not for decisions. */
  look(
    partner: string,
    orderNumbers: readonly string[],
  ): Promise<Pick<Order, 'orderNumber' | 'state' | 'cancellation'>[]> {
    return this.database.query(
      `SELECT order_number AS "orderNumber", state, cancellation FROM orders
       WHERE order_number = ANY(:orderNumbers::text[]) AND partner COLLATE "C" = :partner`,
      { partner, orderNumbers },
    );
  }

  /** Correlation ids of the exchanges in which these orders were placed. */
  async requestsOf(tx: Tx, orderNumbers: readonly string[]): Promise<string[]> {
    const rows = await query<{ id: string }>(
      tx,
      `SELECT correlation_id AS id FROM order_event WHERE order_number = ANY(:orderNumbers::text[]) AND version = 1`,
      { orderNumbers },
    );
    return rows.map((row) => row.id);
  }

  /** One step of an order's history. */
  async step(tx: Tx, orderNumber: string, version: number): Promise<Pick<NewEvent, 'detail'> & { at: Date }> {
    const [row] = await query<Pick<NewEvent, 'detail'> & { at: Date }>(
      tx,
      'SELECT at, detail FROM order_event WHERE order_number = :orderNumber AND version = :version',
      { orderNumber, version },
    );
    if (!row) throw new Error(`order ${orderNumber} has no step ${version}`);
    return row;
  }

  /** Writes back locked orders after their steps, each once. */
  async update(
    tx: Tx,
    orders: readonly Pick<Order, 'orderNumber' | 'state' | 'version' | 'agreedLines' | 'cancellation' | 'overdue'>[],
    now: Date,
  ): Promise<void> {
    await queryAnew(
      tx,
      `UPDATE orders o SET state = u.state, version = u.version, agreed_lines = u.agreed::jsonb, cancellation = u.cancellation::jsonb, overdue = u.overdue::jsonb, updated_at = :now
       FROM unnest(:orderNumber::text[], :state::text[], :version::int[], :agreed::text[], :cancellation::text[], :overdue::text[])
         u (order_number, state, version, agreed, cancellation, overdue)
       WHERE o.order_number = u.order_number`,
      {
        orderNumber: orders.map((order) => order.orderNumber),
        state: orders.map((order) => order.state),
        version: orders.map((order) => order.version),
        agreed: orders.map((order) => jsonOrNull(order.agreedLines)),
        cancellation: orders.map((order) => jsonOrNull(order.cancellation)),
        overdue: orders.map((order) => jsonOrNull(order.overdue)),
        now,
      },
    );
  }

  /** Adds steps to the history of orders whose row lock is held. */
  async addEvents(tx: Tx, events: readonly NewEvent[], at: Date): Promise<void> {
    const column = <K extends keyof NewEvent>(name: K) => events.map((event) => event[name]);
    await query(
      tx,
      `INSERT INTO order_event (order_number, version, type, at, message_id, correlation_id, outbox_seq, topic, partition, "offset", detail)
       SELECT o, v, y, :at, m, c, s, t, p, f, d::jsonb
       FROM unnest(:orderNumber::text[], :version::int[], :type::text[], :messageId::text[], :correlationId::text[], :outboxSeq::bigint[],
                   :topic::text[], :partition::int[], :offset::bigint[], :detail::text[]) u (o, v, y, m, c, s, t, p, f, d)`,
      {
        at,
        orderNumber: column('orderNumber'),
        version: column('version'),
        type: column('type'),
        messageId: column('messageId'),
        correlationId: column('correlationId'),
        outboxSeq: column('outboxSeq'),
        topic: column('topic'),
        partition: column('partition'),
        offset: column('offset'),
        detail: events.map((event) => jsonOrNull(event.detail)),
      },
    );
  }

  /** Deletes up to `limit` keys made before `before`; says how many. Rows in use elsewhere are left for the next time. */
  async deleteExpiredKeys(tx: Tx, before: Date, limit: number): Promise<number> {
    const [row] = await query<{ deleted: number }>(
      tx,
      `WITH expired AS (
         SELECT caller, key FROM idempotency_key WHERE created_at < :before LIMIT :limit FOR UPDATE SKIP LOCKED
       ), gone AS (DELETE FROM idempotency_key USING expired WHERE (idempotency_key.caller, idempotency_key.key) = (expired.caller, expired.key) RETURNING 1)
       SELECT count(*)::int AS deleted FROM gone`,
      { before, limit },
    );
    return row?.deleted ?? 0;
  }
}

const jsonOrNull = (value: OrderLine[] | Cancellation | Overdue[] | OrderEventDetail | null): string | null =>
  value === null ? null : JSON.stringify(value);

const columnsOf = (keys: readonly IdempotencyKey[]) => ({
  callers: keys.map((key) => key.caller),
  keys: keys.map((key) => key.key),
});
