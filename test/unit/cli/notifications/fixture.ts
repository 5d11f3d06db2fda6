import type { NotificationViewDto } from '../../../../src/notifications';

export const AT = '2026-02-03T04:05:06.789Z';

/** One that waits after its first attempt, whose end nobody heard. */
export const notification = (change: Partial<NotificationViewDto> = {}): NotificationViewDto => ({
  ...{ id: 'n1', version: 2, kind: 'order-accepted', summary: 'A partner accepted an order.', channel: 'email' },
  ...{ provider: 'email', receiver: { id: 'ops', name: 'Operations' }, address: '•••', partner: 'acme' },
  ...{ orderNumber: '17', eventId: 'order/17/3', state: 'pending', doubtful: false, code: null, detail: null },
  ...{ standing: `Tried again at ${AT}.`, attempts: 1, happenedAt: AT, createdAt: AT, nextAttemptAt: AT },
  ...{ expiresAt: AT, settledAt: null, resendOf: null, data: { at: AT, partner: { id: 'acme' } }, resends: [] },
  history: [
    {
      ...{ number: 1, action: 'send', begunAt: AT, endedAt: null, outcome: null, code: null, detail: null },
      ...{ providerReference: null, notifier: 'parley-1' },
    },
  ],
  may: ['cancel'],
  ...change,
});
