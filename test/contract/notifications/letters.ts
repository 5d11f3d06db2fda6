import { randomUUID } from 'node:crypto';
import type { Letter } from '../../../src/notifications/channels/provider';
import type { Content } from '../../../src/notifications/domain/notification';

const ADDRESSES = { email: 'jane.doe@example.com', sms: '+41793026727', webhook: 'https://hooks.example/parley' };

/** A notification as a provider gets it. */
export function letterOf(content: Content, rest: Partial<Letter> = {}): Letter {
  const { channel } = content;
  const now = new Date();
  return {
    id: randomUUID(),
    eventId: 'order/PO-000000017/3',
    kind: 'order-accepted',
    ...{ channel, provider: channel, receiver: 'jane', address: ADDRESSES[channel], content },
    ...{ partner: 'acme', orderNumber: 'PO-000000017', data: {} },
    ...{ happenedAt: now, createdAt: now, expiresAt: new Date(now.getTime() + 3_600_000) },
    ...{ attempts: 1, firstBegunAt: now, doubtful: false },
    ...rest,
  };
}

export const emailLetter = (
  rest: Partial<Letter> = {},
  content: Partial<Content & { channel: 'email' }> = {},
): Letter =>
  letterOf({ channel: 'email', subject: 'Order accepted', text: 'Grüße', html: '<p>Grüße</p>', ...content }, rest);

export const smsLetter = (rest: Partial<Letter> = {}, text = 'Order accepted'): Letter =>
  letterOf({ channel: 'sms', text }, rest);
