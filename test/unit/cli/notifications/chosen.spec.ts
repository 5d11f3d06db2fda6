import { planLines } from '../../../../src/cli/notifications/chosen';
import { sinceThen } from '../../../../src/cli/notifications/since-then';
import { localTime } from '../../../../src/cli/terminal/words';
import { AppError } from '../../../../src/platform/errors';
import { AT, notification } from './fixture';

describe('what would happen to several notifications', () => {
  it('is said of each, with those that are left alone and why', () => {
    const take = [
      notification({ id: 'n1', state: 'failed' }),
      notification({ id: 'n2', state: 'sent', receiver: null, orderNumber: null, partner: null, resends: ['n9'] }),
    ];
    const leave = [{ id: 'n3', why: 'it is sending' }];
    expect(planLines('resend', { take, leave, more: true })).toEqual([
      '2 notifications would be sent anew, each under an id of its own, the newest of more than 1000',
      '  n1 failed: order-accepted about 17 to ops over email',
      '  n2 sent: order-accepted about order/17/3 to an address over email, sent anew before as n9',
      'left alone:',
      '  n3 it is sending',
    ]);
  });
});

describe('what was changed since somebody looked', () => {
  const now = notification({ state: 'sent', standing: `Sent at ${AT}.` });
  const api = { get: <T>() => Promise.resolve(now as T) };
  const seen = notification({ state: 'failed' });

  it('is told with where it stands now', async () => {
    await expect(sinceThen(api, seen)(new AppError('version-stale', 'x'))).rejects.toMatchObject({
      ...{ code: 'version-stale', message: 'Notification n1 was changed meanwhile, and this changed nothing.' },
      cause: { message: `It was failed and is sent. Sent at ${localTime(AT)}.` },
    });
  });

  it('is nothing where something else was refused', async () => {
    const error = new AppError('notification-state', 'x');
    await expect(sinceThen(api, seen)(error)).rejects.toBe(error);
  });
});
