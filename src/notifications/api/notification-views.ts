import { MASK } from '../../contracts';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import { type Page, timeOf } from '../../platform/http';
import type { Caller } from '../../staff';
import { kindOf } from '../kinds/catalogue';
import type { NotificationFilter, NotificationList } from '../reading/notification-list';
import { withoutReceiver } from '../reading/receiver-mask';
import { type NotificationHistory, resendsOf, type StoredNotification } from '../reading/stored-notification';
import { shownData } from './masking';
import { MAY } from './may';
import type { AttemptDto, NotificationDto, NotificationViewDto, UnmaskedNotificationDto } from './notification.dto';
import { notificationSecret, notificationUnknown } from './refusals';
import { standingsOf } from './standing-facts';

type Scope = Pick<Caller, 'partners'>;

/** Notifications as people see them. */
export class NotificationViews {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly list: NotificationList,
  ) {}

  /** Newest first. Throws `cursor-invalid`. */
  async page(
    filter: NotificationFilter,
    { partners }: Scope,
    limit: number,
    cursor?: string,
  ): Promise<Page<NotificationDto>> {
    // Which receivers there are is not found out by asking for them.
    if (partners !== null && filter.receiver !== undefined) return { items: [], nextCursor: null };
    const page = await this.list.page(filter, partners, limit, cursor);
    const items = page.items.map((row) => withoutReceiver(row, partners));
    const standings = await standingsOf(this.database, this.config, items);
    return { items: items.map((row) => entryOf(row, standings.get(row.id)?.words)), nextCursor: page.nextCursor };
  }

  /** Throws `notification-unknown`. */
  async of(id: string, by: Scope): Promise<NotificationViewDto> {
    return this.shown(await this.find(id, by));
  }

  /**
   * With address and words; who is confined to some partners sees no receiver's address. Nobody may see it before it is booked. Throws
   * `notification-unknown`, `notification-secret`.
   */
  async unmasked(id: string, by: Scope): Promise<UnmaskedNotificationDto> {
    const one = await this.find(id, by);
    if (one.secret || kindOf(one.kind)?.secret === true) throw notificationSecret(one.kind);
    const { address, data, content } = one;
    return { ...(await this.shown(one)), address, data: { ...data }, content: content && { ...content } };
  }

  private async find(id: string, { partners }: Scope): Promise<NotificationHistory> {
    const found = await this.list.find(id, partners);
    if (!found) throw notificationUnknown();
    return withoutReceiver(found, partners);
  }

  private async shown(one: NotificationHistory): Promise<NotificationViewDto> {
    const standings = await standingsOf(this.database, this.config, [one]);
    const history = one.history.map((attempt): AttemptDto => {
      const { begunAt, endedAt } = attempt;
      return { ...attempt, begunAt: begunAt.toISOString(), endedAt: timeOf(endedAt) };
    });
    const standing = standings.get(one.id);
    const may = MAY[one.state].filter((verb) => verb !== 'resend' || !one.secret);
    const data = one.secret ? null : shownData(kindOf(one.kind), one.data);
    return {
      ...{ ...entryOf(one, standing?.words), data, history },
      may: [...may, ...(standing?.marked ? (['unmark'] as const) : [])],
    };
  }
}

/** @param standing absent: it was deleted meanwhile */
function entryOf(row: StoredNotification, standing = 'Deleted just now.'): NotificationDto {
  const { id, version, kind, channel, provider, receiver, receiverName, partner, orderNumber, eventId, state } = row;
  const { doubtful, code, detail, attempts, happenedAt, createdAt, nextAttemptAt, expiresAt, settledAt, resendOf } =
    row;
  const resends = resendsOf(row);
  return {
    ...{ id, version, kind, summary: kindOf(kind)?.summary ?? 'A kind that this release does not know.' },
    ...{ channel, provider, receiver: receiver === null ? null : { id: receiver, name: receiverName }, address: MASK },
    ...{ partner, orderNumber, eventId, state, standing, doubtful, code, detail, attempts },
    happenedAt: happenedAt.toISOString(),
    createdAt: createdAt.toISOString(),
    nextAttemptAt: state === 'pending' ? nextAttemptAt.toISOString() : null,
    expiresAt: expiresAt.toISOString(),
    settledAt: timeOf(settledAt),
    ...{ resendOf, resends },
  };
}
