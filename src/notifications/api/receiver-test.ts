import { nameUuid } from '../../messaging/consumer';
import type { Clock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { audit, type Caller } from '../../staff';
import { type Channel, CHANNELS, type NotificationEvent } from '../domain/notification';
import { ADDRESSES } from '../domain/receiver';
import { test } from '../kinds/test';
import type { Notifications } from '../notifications';
import { notificationId } from '../raising/notification-id';
import { clearMark } from '../receivers/marks';
import type { Receivers } from '../receivers/receivers';
import { isConfigured } from '../channels/installation';
import { objectOf } from './receiver-desk';
import type { ReceiverTestDto } from './receiver.dto';
import { mayKnow } from './receiver-views';
import { receiverUnknown } from './refusals';

/** Tries the addresses of a receiver in earnest: notifications like any others. */
export class ReceiverTest {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly receivers: Receivers,
    private readonly notifications: Notifications,
  ) {}

  /**
   * One message to each address that this installation can send to, also where a provider refused it for good before: staff ask for it, and it may
   * be mended. The same key of the same caller makes nothing new: it names the event.
   * Throws `receiver-unknown`, `receiver-unreachable`.
   */
  run(id: string, key: string, by: Caller): Promise<ReceiverTestDto> {
    if (!mayKnow(by, id)) return Promise.reject(receiverUnknown());
    return this.database.transaction(async (tx) => {
      const receiver = await this.receivers.locked(tx, id);
      if (!receiver) throw receiverUnknown();
      const channels = CHANNELS.filter(
        (channel) => receiver[ADDRESSES[channel]] !== null && isConfigured(this.config, channel),
      );
      if (channels.length === 0) throw unreachable(id);
      const now = this.clock.now();
      const eventId = `test/${id}/${nameUuid([by.id, key])}`;
      const made = await this.notifications.raise(tx, channels.map(eventOf(id, eventId, by, now)), now);
      if (made > 0) {
        for (const channel of channels) await clearMark(tx, channel, receiver[ADDRESSES[channel]] as string);
        const detail = { channels, eventId };
        await audit(tx, { by, action: 'notification-receiver.test', object: objectOf(id), detail }, now);
      }
      return { notifications: channels.map((channel) => ({ id: notificationId(eventId, id, channel), channel })) };
    });
  }
}

const eventOf =
  (receiver: string, id: string, { name }: Caller, at: Date) =>
  (channel: Channel): NotificationEvent => ({
    ...{ id, kind: test.name, at, to: { receiver, channel } },
    data: { by: name, at: at.toISOString() },
  });

const unreachable = (id: string): NonRetriableError =>
  new NonRetriableError('receiver-unreachable', `${id} has no address that this installation can send to.`);
