import { DataSource } from 'typeorm';
import { NotificationDesk } from '../../../src/notifications/desk/notification-desk';
import type { NotificationEvent } from '../../../src/notifications/domain/notification';
import type { ReceiverDraft } from '../../../src/notifications/domain/receiver';
import { Notifications } from '../../../src/notifications/notifications';
import { NotificationList } from '../../../src/notifications/reading/notification-list';
import { Receivers } from '../../../src/notifications/receivers/receivers';
import { Retention } from '../../../src/notifications/retention';
import { Database, dataSourceOptions } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { countLockWaiters } from '../../support/lock-waiters';

/** A Monday, at noon in Berlin. */
export const NOW = new Date('2026-11-30T11:00:00.000Z');
export const minutes = (count: number) => new Date(NOW.getTime() + count * 60_000);

/** What notifications are made, read and changed with, on a database of its own. */
export interface CoreStage {
  url: string;
  database: Database;
  notifications: Notifications;
  receivers: Receivers;
  list: NotificationList;
  desk: NotificationDesk;
  /** Makes or replaces a receiver, whatever its version. */
  put(draft: Partial<ReceiverDraft> & { id: string }): ReturnType<Receivers['put']>;
  raise(...events: NotificationEvent[]): Promise<number>;
  /** Rows of a table as they stand. */
  rows<Row = Record<string, unknown>>(sql: string, values?: Record<string, unknown>): Promise<Row[]>;
  /** Waits until so many statements of this database wait for a lock. */
  blocked(count: number): Promise<void>;
  /** Holds the row locks of a statement until it is let go. */
  hold(sql: string): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export async function openCore(): Promise<CoreStage> {
  const url = await freshDatabase();
  const dataSource = await new DataSource(
    dataSourceOptions(testConfig(url), { entities: [], migrations: [] }),
  ).initialize();
  const database = new Database(dataSource);
  const [notifications, receivers] = [new Notifications(database), new Receivers(database)];
  const rows = <Row>(sql: string, values: Record<string, unknown> = {}) => database.query<Row>(sql, values);
  return {
    ...{ url, database, notifications, receivers, rows },
    list: new NotificationList(database),
    desk: new NotificationDesk(),
    put: (draft) =>
      database.transaction(async (tx) => {
        const there = await receivers.locked(tx, draft.id);
        return receivers.put(tx, { ...receiver(draft.id), ...draft }, there?.version ?? null, NOW);
      }),
    raise: (...events) => database.transaction((tx) => notifications.raise(tx, events, NOW)),
    blocked: async (count) => {
      await eventually(async () => (await countLockWaiters(database)) === count, {
        what: `${count} statements that wait for a lock`,
      });
    },
    hold: async (sql) => {
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      await runner.query(sql);
      return async () => {
        await runner.commitTransaction();
        await runner.release();
      };
    },
    close: () => dataSource.destroy(),
  };
}

export const receiver = (id: string): ReceiverDraft => ({
  id,
  name: `Receiver ${id}`,
  email: null,
  phone: null,
  webhookUrl: null,
  quietHours: null,
  subscriptions: [],
});

/** That an order was accepted. */
export const accepted = (n: number, more: Partial<NotificationEvent> = {}): NotificationEvent => ({
  id: `order/PO-${n}/2`,
  kind: 'order-accepted',
  at: NOW,
  partner: 'acme',
  orderNumber: `PO-${n}`,
  data: { orderNumber: `PO-${n}`, partner: { id: 'acme', name: 'Acme Ltd' }, at: NOW.toISOString() },
  ...more,
});

/** What another system asks for. */
export const message = (id: string, hash: string, more: Partial<NotificationEvent> = {}) => ({
  id: `request/${id}`,
  kind: 'message',
  at: NOW,
  data: { title: 'Invoice', text: 'It is ready.' },
  to: { channel: 'email', address: 'mara@example.com' } as const,
  ...more,
  requestHash: hash,
});

/** Keeps what is settled for 30 days. */
export const retention = ({ database }: CoreStage, now: Date): Retention =>
  new Retention(
    database,
    { roles: ['notifier'], notificationRetentionDays: 30 },
    { now: () => now },
    createLogger('silent', 'test'),
  );
