import type { Contract } from './contract';
import jsonSchema from './notification-request.v1.schema.json';

export interface NotificationRequestEntry {
  name: string;
  /** Personal data. */
  value: string;
}

/** A system of the company asks that somebody be told something. Who is told: either `receiver`, or `channel` and `address`. */
export interface NotificationRequest {
  /** Made by the system that asks, when the event happens: what was asked for under it once is never told again. */
  notificationId: string;
  /** Of those that other systems may ask for, or one that a newer Parley knows. */
  kind: string;
  /** RFC 3339, when the event happened: what the kind's time counts from. */
  issuedAt: string;
  /** Id of a registered receiver. */
  receiver?: string;
  channel?: string;
  /** Of somebody who is not registered; personal data. */
  address?: string;
  data: NotificationRequestEntry[];
  orderNumber?: string;
  partner?: string;
  /** RFC 3339; earlier than the kind says. */
  expiresAt?: string;
}

export const notificationRequest: Contract<NotificationRequest> = {
  name: 'notification-request',
  version: 1,
  summary:
    'A system of the company asks that somebody be told something: a registered receiver, or whoever has an address that the system knows. Asked twice under one notificationId, it is told once.',
  direction: 'in',
  topic: 'notifications.request.v1',
  key: 'notificationId',
  laterMessages: 'continue',
  secretWhen: { member: 'kind', values: ['confirmation-code'] },
  jsonSchema,
  examples: [
    {
      notificationId: 'login/7f3c2a10',
      kind: 'confirmation-code',
      issuedAt: '2026-02-03T04:05:06.789Z',
      channel: 'sms',
      address: '+491515550100',
      data: [
        { name: 'code', value: '493 817' },
        { name: 'purpose', value: 'signing in to the order portal' },
      ],
      expiresAt: '2026-02-03T04:10:06.789Z',
    },
    {
      notificationId: 'invoice/2026-4711/ready',
      kind: 'message',
      issuedAt: '2026-02-03T04:05:06.789Z',
      receiver: 'purchasing',
      data: [
        { name: 'title', value: 'Invoice 2026-4711 is ready' },
        { name: 'text', value: 'You find it in the portal under "Invoices".' },
      ],
      orderNumber: '4500017',
      partner: 'acme',
    },
  ],
};
