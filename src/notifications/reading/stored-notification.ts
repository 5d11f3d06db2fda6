import { resendId } from '../raising/notification-id';
import type { Attempt, Channel, Content, NotificationData, NotificationState } from '../domain/notification';

/** A notification as it stands, with its address and words: what of it people are shown is for whoever shows it. */
export interface StoredNotification {
  id: string;
  version: number;
  eventId: string;
  kind: string;
  channel: Channel;
  provider: string;
  /** null: it goes to an address that was asked for. */
  receiver: string | null;
  /** null also where there is no such receiver any more. */
  receiverName: string | null;
  address: string;
  partner: string | null;
  orderNumber: string | null;
  data: NotificationData;
  secret: boolean;
  state: NotificationState;
  happenedAt: Date;
  createdAt: Date;
  nextAttemptAt: Date;
  expiresAt: Date;
  settledAt: Date | null;
  leaseUntil: Date | null;
  attempts: number;
  firstBegunAt: Date | null;
  doubtful: boolean;
  code: string | null;
  detail: string | null;
  resendOf: string | null;
  resends: number;
}

/** One with all that was tried. */
export interface NotificationHistory extends StoredNotification {
  content: Content | null;
  /** By number. */
  history: Attempt[];
}

/** Ids of those that staff sent in its place, oldest first. */
export const resendsOf = ({ id, resends }: Pick<StoredNotification, 'id' | 'resends'>): string[] =>
  Array.from({ length: resends }, (_, n) => resendId(id, n + 1));

export const NOTIFICATION_COLUMNS = `n.id, n.version, n.event_id AS "eventId", n.kind, n.channel, n.provider, n.receiver,
  (SELECT r.name FROM notification_receiver r WHERE r.id = n.receiver) AS "receiverName", n.address, n.partner, n.order_number AS "orderNumber",
  n.data, n.secret, n.state, n.happened_at AS "happenedAt", n.created_at AS "createdAt", n.next_attempt_at AS "nextAttemptAt",
  n.expires_at AS "expiresAt", n.settled_at AS "settledAt", n.lease_until AS "leaseUntil", n.attempts, n.first_begun_at AS "firstBegunAt",
  n.doubtful, n.code, n.detail, n.resend_of AS "resendOf", n.resends`;
