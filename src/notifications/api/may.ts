import type { NotificationState } from '../domain/notification';

/** What staff do about one notification. */
export const STAFF_VERBS = ['cancel', 'resend', 'resolve', 'unmark'] as const;
export type StaffVerb = (typeof STAFF_VERBS)[number];

/** What the state of a notification lets staff do; `unmark` goes by its address instead. */
export const MAY: Readonly<Record<NotificationState, readonly StaffVerb[]>> = {
  pending: ['cancel'],
  sending: [],
  sent: ['resend'],
  failed: ['resend'],
  unknown: ['resend', 'resolve'],
  cancelled: ['resend'],
  expired: ['resend'],
};
