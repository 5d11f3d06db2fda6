import type { ApiClient } from '../../../../src/cli/api-client';
import { choose, planLines } from '../../../../src/cli/notifications/chosen';
import { sinceThen } from '../../../../src/cli/notifications/since-then';
import { localTime } from '../../../../src/cli/terminal/words';
import type { NotificationViewDto } from '../../../../src/notifications';
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

  it('names some of very many that are left alone', () => {
    const leave = Array.from({ length: 60 }, (_, n) => ({ id: `n${n}`, why: 'sent anew as x' }));
    expect(planLines('cancel', { take: [], leave, more: false }).slice(-2)).toEqual([
      '  n49 sent anew as x',
      '  and 10 more',
    ]);
  });
});

describe('what fits is chosen', () => {
  /** A list of the API, and what was looked at one by one. */
  function listed(entries: readonly NotificationViewDto[]) {
    const looked: string[] = [];
    const api = {
      async *all<T>() {
        yield* await Promise.resolve(entries as unknown as T[]);
      },
      get: <T>(path: string) => {
        const id = path.split('/').at(-1) ?? '';
        looked.push(id);
        return Promise.resolve(entries.find((one) => one.id === id) as T);
      },
    };
    return { api: api as unknown as ApiClient, looked };
  }
  const failed = (count: number, name: string, resends: string[] = []) =>
    Array.from({ length: count }, (_, n) =>
      notification({ id: `${name}${n}`, state: 'failed', may: ['resend'], resends }),
    );
  const state = 'failed';

  it('behind all that were sent anew before, which are not looked at', async () => {
    const { api, looked } = listed([...failed(1000, 'done', ['x']), ...failed(3, 'left')]);
    const { take, leave, more } = await choose(api, 'resend', [], { state });
    expect([take.map(({ id }) => id), leave.length, more]).toEqual([['left0', 'left1', 'left2'], 1000, false]);
    expect(looked).toEqual(['left0', 'left1', 'left2']);
  });

  it('up to a thousand, and it is told when there are more that could be taken', async () => {
    const thousand = failed(1000, 'left');
    const of = async (entries: NotificationViewDto[]) => {
      const { take, more } = await choose(listed(entries).api, 'resend', [], { state });
      return [take.length, more];
    };
    expect(await of([...thousand, ...failed(1, 'more')])).toEqual([1000, true]);
    expect(await of([...thousand, ...failed(1, 'done', ['x'])])).toEqual([1000, false]);
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
