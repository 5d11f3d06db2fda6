import { randomBytes } from 'node:crypto';
import { seal, sealingKeysOf, unseal } from '../../../../src/notifications/channels/webhook/seal';

const PLACE = { receiver: 'warehouse', number: 1 };
const [key, other] = [randomBytes(32), randomBytes(32)];

describe('a sealed secret', () => {
  const secret = randomBytes(32);
  const sealed = seal(secret, key, PLACE);

  it('opens under its key, wherever that stands among others', () => {
    expect(unseal(sealed, [key], PLACE)).toEqual(secret);
    expect(unseal(sealed, [other, key], PLACE)).toEqual(secret);
    expect(unseal(sealed, [other], PLACE)).toBeUndefined();
    expect(unseal(sealed, [], PLACE)).toBeUndefined();
  });

  it('does not open in another place', () => {
    expect(unseal(sealed, [key], { ...PLACE, receiver: 'warehouse-2' })).toBeUndefined();
    expect(unseal(sealed, [key], { ...PLACE, number: 2 })).toBeUndefined();
  });

  it('does not open when a bit of it was changed, or a part is missing', () => {
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8((changed[at] ?? 0) ^ 1, at);
      expect(unseal(changed, [key], PLACE)).toBeUndefined();
      expect(unseal(sealed.subarray(0, at), [key], PLACE)).toBeUndefined();
    }
  });

  it('looks otherwise each time, and shows nothing of the secret', () => {
    expect(seal(secret, key, PLACE)).not.toEqual(sealed);
    expect(sealed.includes(secret.subarray(0, 8))).toBe(false);
  });
});

describe('the keys that seal', () => {
  it('stand in their order, separated by commas', () => {
    expect(sealingKeysOf(`${key.toString('base64')}, ${other.toString('base64')}`)).toEqual([key, other]);
    expect(sealingKeysOf('')).toEqual([]);
  });
});
