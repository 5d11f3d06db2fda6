import {
  type Account,
  liveOf,
  nextAccount,
  WARNED_BEFORE_MS,
  warningOf,
} from '../../../../src/partners/accounts/account';

const now = new Date('2026-03-01T10:00:00Z');
const at = (ms: number): Date => new Date(now.getTime() + ms);
const account = (change: Partial<Account>): Account => ({
  ...{ partner: 'acme', username: 'acme.1', kind: 'scram-sha-512', state: 'active', createdAt: now, createdBy: 'x' },
  ...{ validUntil: null, disabledAt: null, retiredAt: null, lastSeenAt: null, lastSeenFrom: null },
  ...change,
});

describe('the account that comes next', () => {
  it('has a number above all that were ever used, retired ones too', () => {
    expect(nextAccount('acme', [])).toEqual({ partner: 'acme', username: 'acme.1', kind: 'scram-sha-512' });
    const used = [
      account({ username: 'acme.2', state: 'retired' }),
      account({ username: 'acme.10', state: 'retired' }),
      account({ username: 'CN=acme.99', kind: 'tls' }),
    ];
    expect(nextAccount('acme', used).username).toBe('acme.11');
  });

  it('is the one whose making was broken off, unless it comes in another way', () => {
    const begun = [account({}), account({ username: 'acme.2', state: 'creating' })];
    expect(nextAccount('acme', begun).username).toBe('acme.2');
    expect(nextAccount('acme', begun, 'CN=acme')).toEqual({ partner: 'acme', username: 'CN=acme', kind: 'tls' });
    const certificate = [account({ username: 'CN=acme', kind: 'tls', state: 'creating' })];
    expect(nextAccount('acme', certificate, 'CN=other').username).toBe('CN=other');
    expect(nextAccount('acme', certificate).username).toBe('acme.1');
  });
});

describe('what is said of an account', () => {
  it.each([
    ['an active one without a date', { validUntil: null }, null],
    ['an active one with more than a month left', { validUntil: at(WARNED_BEFORE_MS + 1) }, null],
    ['an active one with a month left', { validUntil: at(WARNED_BEFORE_MS) }, 'expires-soon'],
    ['an active one at its date', { validUntil: now }, 'expired'],
    ['a retiring one before its end', { state: 'retiring', validUntil: at(1) }, null],
    ['a retiring one at its end', { state: 'retiring', validUntil: now }, 'overdue'],
    ['a retired one', { state: 'retired', validUntil: at(-1) }, null],
  ] as const)('fits %s', (_, change, warning) => {
    expect(warningOf(account(change), now)).toBe(warning);
  });

  it('counts all but the retired as open to the broker', () => {
    const states = ['creating', 'active', 'retiring', 'retired'] as const;
    expect(liveOf(states.map((state) => account({ state }))).map(({ state }) => state)).toEqual(states.slice(0, 3));
  });
});
