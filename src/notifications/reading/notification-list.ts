import { Conditions, type Database, IndexedReader } from '../../platform/database';
import { decodeCursor, type Page, pageOf } from '../../platform/http';
import type { Attempt, Channel, Content, NotificationState } from '../domain/notification';
import { NOTIFICATION_COLUMNS, type NotificationHistory, type StoredNotification } from './stored-notification';

export interface NotificationFilter {
  order?: string | undefined;
  state?: NotificationState | undefined;
  kind?: string | undefined;
  channel?: Channel | undefined;
  receiver?: string | undefined;
  partner?: string | undefined;
}

/** Partners whose notifications the caller may see; null: all, those of no partner too. */
export type Scope = readonly string[] | null;

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CURSOR = [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, UUID];

/** Reads notifications for people. */
export class NotificationList {
  private readonly indexes: IndexedReader;

  constructor(private readonly database: Database) {
    this.indexes = new IndexedReader(database);
  }

  /** Newest first; the page key is the sort key (time of creation, id), so what comes meanwhile shows before the first page. Throws `cursor-invalid`. */
  async page(
    filter: NotificationFilter,
    scope: Scope,
    limit: number,
    cursor?: string,
  ): Promise<Page<StoredNotification>> {
    const [createdAt, id] = cursor === undefined ? [] : decodeCursor(cursor, CURSOR);
    const { order, state, kind, channel, receiver, partner } = filter;
    const where = new Conditions()
      .within('n.partner', scope)
      .and('n.order_number = :order', { order })
      .and('n.state = :state', { state })
      .and('n.kind = :kind', { kind })
      .and('n.channel = :channel', { channel })
      .and('n.receiver = :receiver', { receiver })
      .and('n.partner = :partner', { partner })
      .and('(n.created_at, n.id) < (:createdAt::timestamptz, :id::uuid)', { createdAt, id });
    const found = await this.indexes.rows<StoredNotification>(
      // The ids come from an index alone: what is filtered out costs no row.
      `SELECT ${NOTIFICATION_COLUMNS} FROM (SELECT n.id FROM notification n WHERE ${where.toString()}
         ORDER BY n.created_at DESC, n.id DESC LIMIT :limit) found
       JOIN notification n USING (id) ORDER BY n.created_at DESC, n.id DESC`,
      { ...where.values, limit: limit + 1 },
    );
    return pageOf(found, limit, (last) => [last.createdAt.toISOString(), last.id]);
  }

  /** Undefined where there is none that the caller may see. */
  async find(id: string, scope: Scope): Promise<NotificationHistory | undefined> {
    if (!UUID.test(id)) return undefined;
    const where = new Conditions().and('n.id = :id', { id }).within('n.partner', scope);
    const [row] = await this.database.query<StoredNotification & { content: Content | null }>(
      `SELECT ${NOTIFICATION_COLUMNS}, n.content FROM notification n WHERE ${where.toString()}`,
      where.values,
    );
    if (!row) return undefined;
    return { ...row, history: await this.attempts(id) };
  }

  private attempts(id: string): Promise<Attempt[]> {
    return this.database.query<Attempt>(
      `SELECT number, action, begun_at AS "begunAt", ended_at AS "endedAt", outcome, code, detail, provider_reference AS "providerReference", notifier
       FROM notification_attempt WHERE notification_id = :id ORDER BY number`,
      { id },
    );
  }
}
