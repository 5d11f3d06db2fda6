import { type Database, query, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { decodeCursor, type Page, pageOf, versionStale } from '../../platform/http';
import { type Receiver, type ReceiverDraft, receiverViolations } from '../domain/receiver';
import { forgetMarks } from './marks';
import { cancelWaiting, followAddresses, followQuietHours } from './moves';
import { RECEIVER_COLUMNS, type ReceiverRow, receiverOf, subscribedText, valuesOf } from './receiver-rows';

/** What a {@link Receivers.put} did. */
export interface PutReceiver {
  receiver: Receiver;
  /** It was not there before. */
  made: boolean;
  /** As it was before. */
  before: Receiver | null;
  /** Notifications that go to its new addresses now, and that were cancelled since it has none of their kind any more. */
  moved: number;
  cancelled: number;
}

/** The registered people and systems. */
export class Receivers {
  constructor(private readonly database: Database) {}

  /** By id. Throws `cursor-invalid`. */
  async page(limit: number, cursor?: string): Promise<Page<Receiver>> {
    const [after = ''] = cursor === undefined ? [] : decodeCursor(cursor, [/^[a-z0-9-]{1,64}$/]);
    const rows = await this.database.query<ReceiverRow>(
      `SELECT ${RECEIVER_COLUMNS} FROM notification_receiver r WHERE r.id > :after ORDER BY r.id LIMIT :limit`,
      { after, limit: limit + 1 },
    );
    return pageOf(rows.map(receiverOf), limit, ({ id }) => [id]);
  }

  async find(id: string): Promise<Receiver | undefined> {
    const [row] = await this.database.query<ReceiverRow>(
      `SELECT ${RECEIVER_COLUMNS} FROM notification_receiver r WHERE r.id = :id`,
      { id },
    );
    return row && receiverOf(row);
  }

  /** As it is, and nobody changes it until the transaction ends; undefined where there is none. */
  async locked(tx: Tx, id: string): Promise<Receiver | undefined> {
    await query(tx, 'SELECT 1 FROM notification_receiver WHERE id = :id FOR UPDATE', { id });
    // A statement of its own: what the lock was waited for has changed subscriptions, too.
    const [row] = await query<ReceiverRow>(
      tx,
      `SELECT ${RECEIVER_COLUMNS} FROM notification_receiver r WHERE r.id = :id`,
      { id },
    );
    return row && receiverOf(row);
  }

  /**
   * Makes or replaces a receiver. What waits for it and was not begun goes to its new address; what was begun keeps the old one, since a
   * provider that knows an id must see the same again. What waits on a way that it no longer has is cancelled. What only waits for quiet hours
   * that are others now goes by the new ones. Whoever is raising something just now, and read the receiver before, tells it the old way.
   * @param seen the version that the caller has seen; null: there must be none
   * Throws `receiver-invalid`, `receiver-unknown`, `version-stale`.
   */
  async put(tx: Tx, draft: ReceiverDraft, seen: number | null, now: Date): Promise<PutReceiver> {
    const violations = receiverViolations(draft);
    if (violations.length > 0)
      throw new NonRetriableError('receiver-invalid', 'The receiver breaks a rule.', { violations });
    const before = seen === null ? null : await this.seen(tx, draft.id, seen);
    await (before ? update(tx, draft, now) : insert(tx, draft, now));
    await query(tx, 'DELETE FROM notification_subscription WHERE receiver = :id', { id: draft.id });
    await query(
      tx,
      `INSERT INTO notification_subscription (receiver, kind, channel, partners)
       SELECT :id, s.kind, s.channel, s.partners FROM jsonb_to_recordset(:subscribed::jsonb) s(kind text, channel text, partners text[])`,
      { id: draft.id, subscribed: subscribedText(draft) },
    );
    const { moved, cancelled } = await followAddresses(tx, before, draft, now);
    if (before && JSON.stringify(before.quietHours) !== JSON.stringify(draft.quietHours))
      await followQuietHours(tx, draft.id, draft.quietHours, now);
    const receiver = (await this.locked(tx, draft.id)) as Receiver;
    return { receiver, made: before === null, before, moved, cancelled };
  }

  /**
   * Removes a receiver with its subscriptions, secrets, breaker and the marks of its addresses, and cancels what waits for it; what is being sent just now ends as it
   * ends. What somebody raised meanwhile is cancelled by {@link Retention} a little later. Resolves with how many were cancelled.
   * Throws `receiver-unknown`, `version-stale`.
   */
  async remove(tx: Tx, id: string, seen: number, now: Date): Promise<number> {
    const gone = await this.seen(tx, id, seen);
    await query(tx, 'DELETE FROM notification_receiver WHERE id = :id', { id });
    await forgetMarks(tx, gone);
    const cancelled = await cancelWaiting(tx, { receiver: id, channel: null, code: 'receiver-removed' }, now);
    await query(tx, 'DELETE FROM notification_provider WHERE name = :name', { name: `webhook/${id}` });
    return cancelled;
  }

  private async seen(tx: Tx, id: string, seen: number): Promise<Receiver> {
    const receiver = await this.locked(tx, id);
    if (!receiver) throw new NonRetriableError('receiver-unknown', `There is no receiver ${id}.`);
    if (receiver.version !== seen) throw versionStale();
    return receiver;
  }
}

async function insert(tx: Tx, draft: ReceiverDraft, now: Date): Promise<void> {
  const made = await query(
    tx,
    `INSERT INTO notification_receiver (id, name, email, phone, webhook_url, quiet_from, quiet_to, time_zone, created_at, updated_at)
     VALUES (:id, :name, :email, :phone, :webhookUrl, :quietFrom, :quietTo, :timeZone, :now, :now) ON CONFLICT DO NOTHING RETURNING id`,
    { ...valuesOf(draft), now },
  );
  if (made.length === 0) throw versionStale();
}

async function update(tx: Tx, draft: ReceiverDraft, now: Date): Promise<void> {
  await query(
    tx,
    `UPDATE notification_receiver SET name = :name, email = :email, phone = :phone, webhook_url = :webhookUrl, quiet_from = :quietFrom,
       quiet_to = :quietTo, time_zone = :timeZone, updated_at = :now, version = version + 1 WHERE id = :id`,
    { ...valuesOf(draft), now },
  );
}
