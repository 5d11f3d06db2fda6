import { MASK } from '../../contracts';
import type { Clock } from '../../platform/clock';
import type { Database, Tx } from '../../platform/database';
import { audit, type Caller } from '../../staff';
import type { NotificationDesk, Seen } from '../desk/notification-desk';
import type { StoredNotification } from '../reading/stored-notification';
import type { StaffVerb } from './may';
import type { Resolution } from './notification-requests.dto';
import type { UnmaskedNotificationDto } from './notification.dto';
import type { NotificationViews } from './notification-views';

/** Who does something to a notification that they have looked at, and why. */
export interface Deed {
  id: string;
  seen: number;
  reason: string;
  by: Caller;
}

/** What staff do about single notifications: each with its entry of the audit in one transaction. */
export class NotificationActions {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly desk: NotificationDesk,
    private readonly views: NotificationViews,
  ) {}

  cancel(deed: Deed): Promise<StoredNotification> {
    return this.change(
      deed,
      'cancel',
      (tx, seen, now) => this.desk.cancel(tx, seen, now),
      () => ({}),
    );
  }

  resolve(deed: Deed, outcome: Resolution): Promise<StoredNotification> {
    return this.change(
      deed,
      'resolve',
      (tx, seen, now) => this.desk.resolve(tx, seen, outcome, now),
      () => ({ outcome }),
    );
  }

  /** Resolves with the new one. */
  resend(deed: Deed): Promise<StoredNotification> {
    return this.change(
      deed,
      'resend',
      (tx, seen, now) => this.desk.resend(tx, seen, now),
      ({ id }) => ({ resentAs: id }),
    );
  }

  /** Has its address tried again; the audit names no address. */
  unmark(deed: Omit<Deed, 'seen'>): Promise<StoredNotification> {
    return this.change(
      deed,
      'unmark',
      (tx, { id, scope }) => this.desk.unmark(tx, { id, scope }),
      () => ({}),
    );
  }

  /** Answered with what is masked otherwise, when the entry of the audit is committed. It names members, never what stands there. */
  async unmask(id: string, reason: string, by: Caller): Promise<UnmaskedNotificationDto> {
    const shown = await this.views.unmasked(id, by);
    const { kind, partner, address, content } = shown;
    const members = [...(address === MASK ? [] : ['address']), 'data', ...(content === null ? [] : ['content'])];
    const detail = { kind, shown: members };
    const entry = { by, action: 'notification.unmask', object: `notification/${id}`, reason, detail };
    await this.database.transaction((tx) => audit(tx, { ...entry, partner: partner ?? undefined }, this.clock.now()));
    return shown;
  }

  private change(
    { id, seen = 0, reason, by }: Omit<Deed, 'seen'> & Partial<Pick<Deed, 'seen'>>,
    verb: StaffVerb,
    work: (tx: Tx, seen: Seen, now: Date) => Promise<StoredNotification>,
    more: (changed: StoredNotification) => Record<string, unknown>,
  ): Promise<StoredNotification> {
    return this.database.transaction(async (tx) => {
      const now = this.clock.now();
      const changed = await work(tx, { id, version: seen, scope: by.partners }, now);
      const { kind, channel, state, partner } = changed;
      const detail = { kind, channel, state, ...more(changed) };
      const entry = { by, action: `notification.${verb}`, object: `notification/${id}`, reason, detail };
      await audit(tx, { ...entry, partner: partner ?? undefined }, now);
      return changed;
    });
  }
}
