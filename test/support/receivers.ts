import { type Database, query } from '../../src/platform/database';

export interface TestReceiver {
  id: string;
  kinds: readonly string[];
  /** Default: e-mail. */
  channels?: readonly ('email' | 'sms' | 'webhook')[];
  /** Default: of all. */
  partners?: readonly string[];
  webhookUrl?: string;
}

/** Registers somebody who is told of these kinds. */
export async function subscribe(
  database: Database,
  { id, kinds, channels = ['email'], partners, webhookUrl }: TestReceiver,
): Promise<void> {
  await database.transaction(async (tx) => {
    await query(
      tx,
      `INSERT INTO notification_receiver (id, name, email, phone, webhook_url, created_at, updated_at)
       VALUES (:id, :name, :email, '+4915112345678', :webhookUrl, now(), now())`,
      { id, name: `Receiver ${id}`, email: `${id}@example.com`, webhookUrl: webhookUrl ?? 'https://example.com/hook' },
    );
    await query(
      tx,
      `INSERT INTO notification_subscription (receiver, kind, channel, partners)
       SELECT :id, kind, channel, :partners::text[] FROM unnest(:kinds::text[]) kind, unnest(:channels::text[]) channel`,
      { id, kinds, channels, partners: partners ?? null },
    );
  });
}

export interface MadeNotification {
  id: string;
  eventId: string;
  kind: string;
  channel: string;
  receiver: string | null;
  partner: string | null;
  orderNumber: string | null;
  data: Record<string, unknown>;
  state: string;
}

/** What has been made for an order, in the order of its events. */
export const notificationsOf = (database: Database, orderNumber: string): Promise<MadeNotification[]> =>
  made(database, 'order_number = :orderNumber', { orderNumber });

/** What has been made of a kind. */
export const notificationsOfKind = (database: Database, kind: string): Promise<MadeNotification[]> =>
  made(database, 'kind = :kind', { kind });

const made = (database: Database, where: string, values: Record<string, unknown>): Promise<MadeNotification[]> =>
  database.query<MadeNotification>(
    `SELECT id, event_id AS "eventId", kind, channel, receiver, partner, order_number AS "orderNumber", data, state FROM notification
     WHERE ${where} ORDER BY happened_at, event_id, receiver, channel`,
    values,
  );
