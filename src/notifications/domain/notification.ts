/** Ways to a receiver. */
export const CHANNELS = ['email', 'sms', 'webhook'] as const;
export type Channel = (typeof CHANNELS)[number];

/** `unknown`: it may or may not have gone out, and a person decides. `sending`: a notifier has it, or had it when it ended. */
export const STATES = ['pending', 'sending', 'sent', 'failed', 'unknown', 'cancelled', 'expired'] as const;
export type NotificationState = (typeof STATES)[number];

/** What happened, as a template and a webhook's body tell it: texts, numbers, lists and objects of them. */
export type NotificationData = Readonly<Record<string, unknown>>;

/** Where it goes when nobody subscribed: to a registered receiver, or to an address that whoever asks knows. */
export type Destination =
  { receiver: string; channel?: Channel | undefined } | { channel: 'email' | 'sms'; address: string };

/** Something that happened and that people or systems are to hear of. */
export interface NotificationEvent {
  /**
   * Given when it happened and the same whenever it is told again: `order/PO-000000017/3`. What was told under it once is never told again,
   * as long as settled notifications are kept.
   */
  id: string;
  /** Name of a {@link NotificationKind}. */
  kind: string;
  at: Date;
  partner?: string | undefined;
  orderNumber?: string | undefined;
  data: NotificationData;
  /** Absent: to all who subscribed to the kind (and the partner). */
  to?: Destination | undefined;
  /** Earlier than the kind says. */
  expiresAt?: Date | undefined;
  /** Hex; what another system asked for: under the same id it must be the same. */
  requestHash?: string | undefined;
}

/** What is sent, as made for the first attempt. */
export type Content =
  | { channel: 'email'; subject: string; text: string; html: string }
  | { channel: 'sms'; text: string }
  | { channel: 'webhook'; body: string };

/** A notification as a notifier has it. */
export interface ClaimedNotification {
  id: string;
  eventId: string;
  kind: string;
  channel: Channel;
  /** `email`, `sms`, `webhook/<receiver>` */
  provider: string;
  receiver: string | null;
  address: string;
  partner: string | null;
  orderNumber: string | null;
  data: NotificationData;
  content: Content | null;
  happenedAt: Date;
  createdAt: Date;
  expiresAt: Date;
  attempts: number;
  firstBegunAt: Date | null;
  doubtful: boolean;
}

/** A row of the history of a notification. */
export interface Attempt {
  number: number;
  action: 'send' | 'look-up';
  begunAt: Date;
  endedAt: Date | null;
  /** null: nobody heard its end. */
  outcome: string | null;
  code: string | null;
  detail: string | null;
  providerReference: string | null;
  notifier: string;
}
