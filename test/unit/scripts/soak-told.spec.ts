import { accountNotifications } from '../../../scripts/soak/told.mjs';

const POLICIES = new Map([
  ['code', 'repeat'],
  ['news', 'skip'],
  ['order', 'look-up'],
]);
const one = (change: object = {}) => ({
  ...{ id: 'n', kind: 'order', channel: 'sms' as const, state: 'sent', doubtful: false, resolved: false },
  ...change,
});
const faultsOf = (change: object, count: number, untold: string[] = []) =>
  accountNotifications([one(change)], new Map(count > 0 ? [['n', count]] : []), POLICIES, untold).flatMap(
    ({ faults }) => faults,
  );

describe('the ledger of what people and systems are told', () => {
  it('counts by channel what was made, how it ended, and what was received', () => {
    const notifications = [one(), one({ id: 'm', kind: 'code' }), one({ id: 'e', channel: 'email', state: 'pending' })];
    const received = new Map([
      ['n', 1],
      ['m', 2],
    ]);
    const accounts = accountNotifications(notifications, received, POLICIES);
    expect(accounts.map(({ name, counts }) => [name, counts])).toEqual([
      ['e-mail', { made: 1, waiting: 1, received: 0, again: 0 }],
      ['SMS', { made: 2, sent: 2, received: 2, again: 1 }],
      ['webhook', { made: 0, received: 0, again: 0 }],
    ]);
  });

  it.each([
    ['sent once', {}, 1],
    ['a repeated one twice', { kind: 'code' }, 2],
    ['one given up in doubt once', { kind: 'news', state: 'failed', doubtful: true }, 1],
    ['one given up in doubt never', { kind: 'news', state: 'failed', doubtful: true }, 0],
    ['an unknown one once', { state: 'unknown', doubtful: true }, 1],
    ['an unknown one never', { state: 'unknown', doubtful: true }, 0],
    ['one that a person found never', { resolved: true }, 0],
    ['a refused one never', { state: 'failed' }, 0],
    ['a cancelled one never', { state: 'cancelled' }, 0],
  ])('comes out even with %s', (_, change, count) => expect(faultsOf(change, count)).toEqual([]));

  it.each([
    ['was sent twice', {}, 2, 'SMS: order n is sent, its policy look-up, and was received 2 times'],
    ['is sent and never came', {}, 0, 'SMS: order n is sent, and was never received'],
    ['came although it is only in doubt, twice', { state: 'unknown' }, 2, 'received 2 times'],
    [
      'came although it was given up',
      { state: 'failed' },
      1,
      'is failed, its policy look-up, and was received 1 times',
    ],
    ['repeats and came although it was refused', { kind: 'code', state: 'failed' }, 1, 'received 1 times'],
    ['repeats and never came', { kind: 'code' }, 0, 'is sent, and was never received'],
    ['has no end', { state: 'sending' }, 1, 'is sending, and has no end'],
  ])('names what %s', (_, change, count, words) =>
    expect(faultsOf(change, count)).toEqual([expect.stringContaining(words)]),
  );

  it('names what came and is not ours, and what was not told', () => {
    expect(
      accountNotifications([], new Map([['x', 1]]), POLICIES, ['order/1/2']).flatMap(({ faults }) => faults),
    ).toEqual([
      'x was received, and is no notification of ours',
      'order/1/2 was to be told, and no notification says so',
    ]);
  });
});
