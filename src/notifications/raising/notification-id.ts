import { nameUuid } from '../../messaging/consumer';
import type { Channel } from '../domain/notification';

/** The same for the same event, receiver (or address) and channel, for ever. */
export const notificationId = (eventId: string, to: string, channel: Channel): string =>
  nameUuid([eventId, to, channel]);

/** That of a notification's nth resend, from 1. */
export const resendId = (id: string, resend: number): string => nameUuid([id, String(resend)]);
