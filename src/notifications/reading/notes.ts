import type { Database } from '../../platform/database';
import type { Channel, NotificationState } from '../domain/notification';

/** How a notification stands, for the history of what it is about. No address. */
export interface NotificationNote {
  id: string;
  kind: string;
  channel: Channel;
  /** null: it goes to an address that was asked for. */
  receiver: string | null;
  /** What people call the receiver; null where there is none (any more). */
  receiverName: string | null;
  state: NotificationState;
  /** The last attempt may have had its effect: nobody heard its end. */
  doubtful: boolean;
  createdAt: Date;
  /** When it is tried, while it is pending. */
  nextAttemptAt: Date;
  expiresAt: Date;
  settledAt: Date | null;
  attempts: number;
  firstBegunAt: Date | null;
  /** Why it stands so, where there is something to say. */
  code: string | null;
  detail: string | null;
  resendOf: string | null;
}

export function notesOfOrder(database: Database, orderNumber: string): Promise<NotificationNote[]> {
  return database.query<NotificationNote>(
    `SELECT n.id, n.kind, n.channel, n.receiver, r.name AS "receiverName", n.state, n.doubtful, n.created_at AS "createdAt",
       n.next_attempt_at AS "nextAttemptAt", n.expires_at AS "expiresAt", n.settled_at AS "settledAt", n.attempts, n.first_begun_at AS "firstBegunAt",
       n.code, n.detail, n.resend_of AS "resendOf"
     FROM notification n LEFT JOIN notification_receiver r ON r.id = n.receiver
     WHERE n.order_number = :orderNumber ORDER BY n.created_at, n.id LIMIT 500`,
    { orderNumber },
  );
}
