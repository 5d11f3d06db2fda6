import { InvalidArgumentError } from 'commander';
import { providerName } from '../../../../src/cli/notifications/providers';
import { hours } from '../../../../src/cli/notifications/receivers';
import { CHANNELS, named, notificationId, notificationIds, STATES } from '../../../../src/cli/notifications/selection';
import * as room from '../../../../src/notifications/domain/notification';

const ID = '0b4ad6a8-0d5c-5b1d-9f0c-2d0f4b1a7e55';

describe('an option about notifications', () => {
  it('knows every state and channel that there is', () => {
    expect(STATES).toEqual(room.STATES);
    expect(CHANNELS).toEqual(room.CHANNELS);
  });

  it('collects ids, however they are written', () => {
    expect(notificationIds(ID.toUpperCase(), notificationIds(ID))).toEqual([ID, ID]);
  });

  it.each([
    ['0', 0],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
  ])('is a time in whole hours: %s', (raw, ms) => {
    expect(hours(raw)).toBe(ms);
  });

  it.each(['email', 'sms', 'webhook/warehouse'])('is a provider: %s', (raw) => {
    expect(providerName(raw)).toBe(raw);
  });

  it.each<[(raw: string) => unknown, string]>([
    [notificationId, '4711'],
    [notificationId, `${ID}/../x`],
    [named, '../x'],
    [named, 'Ops'],
    [hours, '30m'],
    [hours, '8d'],
    [hours, 'soon'],
    [providerName, 'webhook'],
    [providerName, 'webhook/../email'],
  ])('%p refuses %j', (parse, raw) => {
    expect(() => parse(raw)).toThrow(InvalidArgumentError);
  });
});
