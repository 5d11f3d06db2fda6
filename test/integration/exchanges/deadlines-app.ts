import { topicFor, orderResponse } from '../../../src/contracts';
import { ChannelCatalog } from '../../../src/messaging/channels';
import { parkedAnswers } from '../../../src/messaging/consumer';
import { createDeadlineWatcher, type DeadlineWatcher, Exchanges } from '../../../src/messaging/exchanges';
import { createKafkaAdmin } from '../../../src/messaging/kafka';
import { Outbox } from '../../../src/messaging/outbox';
import { type Clock, systemClock } from '../../../src/platform/clock';
import { query } from '../../../src/platform/database';
import { createLogger, type Logger } from '../../../src/platform/telemetry';
import { createTopic, uniqueName } from '../../support/kafka';
import { TestBatch } from '../consumer/harness';
import { settingsFor } from '../kafka/fixtures';
import {
  addPartner,
  anOrder,
  answerRecord,
  consumerOf,
  type OrdersApp,
  place,
  send,
  startOrders,
} from '../orders/orders-app';

/** An order that a partner was asked for. */
export interface Asked {
  orderNumber: string;
  correlationId: string;
  messageId: string;
}

export interface LedgerRow {
  state: string;
  resends: number;
  deadline: Date;
  lookAt: Date | null;
  requestSeq: string;
  resentSeq: string | null;
  endReason: string | null;
  answerCode: string | null;
}

/** The orders room with a partner whose answer topic is on the run's broker, and the watcher over both. */
export interface DeadlinesApp extends OrdersApp {
  partner: string;
  topic: string;
  /** Consumer group of the watcher. */
  group: string;
  consumer: Awaited<ReturnType<typeof consumerOf>>;
  /** A watcher as a process of its own has it: it remembers nothing of another's. */
  watcher(options?: { logger?: Logger; clock?: Clock; group?: string; brokers?: string }): DeadlineWatcher;
  /** Places an order whose request went into Kafka at once. */
  asked(): Promise<Asked>;
  /** {@link asked}, its deadline a minute ago. */
  late(): Promise<Asked>;
  /** The partner's answer is consumed. */
  answer(one: Asked, responseCode: string): Promise<void>;
  /** What the outbox has of the order, in the order of its numbers. */
  requests(one: Asked): Promise<Record<string, unknown>[]>;
  /** The request got its place in Kafka so long after it was written. */
  publish(messageId: string, delayMs?: number): Promise<void>;
  /** Everything about this request happened so much earlier, and no watcher has looked since. */
  age(one: Asked, ms: number): Promise<void>;
  ledger(one: Asked): Promise<LedgerRow>;
  show(one: Asked): Promise<Record<string, unknown>>;
  story(one: Asked): Promise<Record<string, unknown>[]>;
}

export const HOUR = 3_600_000;

/** It lies so far ahead, give or take what a machine may have stood still since. */
export const expectIn = (at: Date, ms: number): void =>
  expect(Math.abs(at.getTime() - Date.now() - ms)).toBeLessThan(30_000);

export async function startDeadlines(options: { databaseUrl?: string } = {}): Promise<DeadlinesApp> {
  const orders = await startOrders(options);
  const { app, database } = orders;
  const partner = uniqueName('p');
  await addPartner(database, partner, 'json');
  const topic = await createTopic(topicFor(orderResponse, partner), { partitions: 4, exact: true });
  const consumer = await consumerOf(orders);
  const admins = new Set<{ close(): Promise<void> }>();
  const group = uniqueName('group');
  const rows = <Row>(sql: string, values: Record<string, unknown>) =>
    database.transaction((tx) => query<Row>(tx, sql, values));

  const asked = async (): Promise<Asked> => {
    const { orderNumber } = (await place(orders, anOrder({ partner }))).json as { orderNumber: string };
    const [row] = await database.query<Asked>(
      `SELECT order_number AS "orderNumber", correlation_id AS "correlationId", request_message_id AS "messageId" FROM exchange WHERE order_number = :orderNumber`,
      { orderNumber },
    );
    if (!row) throw new Error(`order ${orderNumber} has no exchange`);
    await publish(row.messageId);
    return row;
  };
  const publish = async (messageId: string, delayMs = 20) => {
    await rows(
      `INSERT INTO outbox_receipt (topic, partition, base_offset, first_seq, last_seq, seqs, sent_at)
       SELECT topic, partition, seq, seq, seq, ARRAY[seq], time + :delayMs * interval '1 ms' FROM outbox_message m
       WHERE id = :messageId AND NOT EXISTS (SELECT 1 FROM outbox_receipt r WHERE m.seq = ANY(r.seqs))`,
      { messageId, delayMs },
    );
  };
  /** In one transaction, and locked in everybody's order: a watcher that runs sees all of it or nothing. */
  const age = async ({ correlationId, orderNumber, messageId }: Asked, ms: number) => {
    const back = `interval '${ms} ms'`;
    const values = { correlationId, orderNumber, messageId };
    await database.transaction(async (tx) => {
      for (const sql of [
        `UPDATE orders SET deadline = deadline - ${back} WHERE order_number = :orderNumber`,
        `UPDATE exchange SET opened_at = opened_at - ${back}, deadline = deadline - ${back}, look_at = look_at - ${back} WHERE correlation_id = :correlationId`,
        `UPDATE outbox_receipt r SET sent_at = sent_at - ${back} FROM outbox_message m WHERE m.id = :messageId AND m.seq = ANY(r.seqs)`,
        'UPDATE reply_watch SET judged_up_to = NULL',
      ])
        await query(tx, sql, values);
    });
  };
  return {
    ...orders,
    partner,
    topic,
    group,
    consumer,
    watcher: ({
      logger = createLogger('silent', 'test'),
      clock = systemClock,
      group: ofGroup = group,
      brokers,
    } = {}) => {
      const admin = createKafkaAdmin(settingsFor(brokers));
      admins.add(admin);
      return createDeadlineWatcher({
        database,
        channels: app.get(ChannelCatalog),
        exchanges: app.get(Exchanges),
        outbox: app.get(Outbox),
        admin,
        group: ofGroup,
        parkedAnswers,
        clock,
        logger,
      });
    },
    asked,
    publish,
    late: async () => {
      const one = await asked();
      await age(one, HOUR + 60_000);
      return one;
    },
    answer: async (one, responseCode) => {
      const value = { orderNumber: one.orderNumber, responseCode };
      await consumer.process(new TestBatch([answerRecord(partner, one.correlationId, value)]));
    },
    requests: ({ orderNumber }) =>
      database.query(
        `SELECT seq, id, type, topic, partition, correlationid, payload::text, time FROM outbox_message WHERE aggregateid = :orderNumber ORDER BY seq`,
        { orderNumber },
      ),
    age,
    ledger: async ({ correlationId }) => {
      const [row] = await database.query<LedgerRow>(
        `SELECT state, resends, deadline, look_at AS "lookAt", request_seq AS "requestSeq", resent_seq AS "resentSeq", end_reason AS "endReason",
           answer_code AS "answerCode" FROM exchange WHERE correlation_id = :correlationId`,
        { correlationId },
      );
      if (!row) throw new Error(`no exchange ${correlationId}`);
      return row;
    },
    show: async ({ orderNumber }) => (await send(orders, 'GET', `/v1/orders/${orderNumber}`)).json,
    story: async ({ orderNumber }) =>
      (await send(orders, 'GET', `/v1/orders/${orderNumber}/timeline`)).json['steps'] as Record<string, unknown>[],
    close: async () => {
      await consumer.close();
      await Promise.all([...admins].map((admin) => admin.close()));
      await orders.close();
    },
  };
}
