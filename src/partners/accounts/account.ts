export type AccountKind = 'scram-sha-512' | 'tls';

/**
 * `creating`: its secret was perhaps told to nobody. `active`: the one that new clients get; at most one a partner. `retiring`: replaced, and
 * works until its date. `retired`: the broker knows it no more.
 */
export type AccountState = 'creating' | 'active' | 'retiring' | 'retired';

/** An account of a partner at the broker. */
export interface Account {
  partner: string;
  /** `acme.1`, or what the broker's mapping rule makes of a certificate's subject. The principal is `User:<username>`. */
  username: string;
  kind: AccountKind;
  state: AccountState;
  createdAt: Date;
  createdBy: string;
  /** active: until when it should be replaced; it goes on working after that. retiring: its end. null: no date. */
  validUntil: Date | null;
  /** Since when its rights are taken away, reversibly. */
  disabledAt: Date | null;
  retiredAt: Date | null;
  /** When a client that calls itself by its name was last seen in a consumer group of the partner; a producer is never seen. */
  lastSeenAt: Date | null;
  /** Network address of that client, as the broker sees it. */
  lastSeenFrom: string | null;
}

/** What is to be made, or gone on with. */
export type NewAccount = Pick<Account, 'partner' | 'username' | 'kind'>;

export const principalOf = (username: string): string => `User:${username}`;

/** Those that open something at the broker, or may soon. */
export const liveOf = <T extends Pick<Account, 'state'>>(accounts: readonly T[]): T[] =>
  accounts.filter(({ state }) => state !== 'retired');

/** From so long before its end on it is warned about. */
export const WARNED_BEFORE_MS = 30 * 86_400_000;

/**
 * `expires-soon`, `expired`: its credentials should be replaced; it works on all the same, since a date must not cut off a partner that works.
 * `overdue`: it was replaced, its end has passed, and the broker still knows it, for nobody with the administrator's account came by.
 */
export type AccountWarning = 'expires-soon' | 'expired' | 'overdue';

export function warningOf(
  { state, validUntil }: Pick<Account, 'state' | 'validUntil'>,
  now: Date,
): AccountWarning | null {
  if (validUntil === null) return null;
  const left = validUntil.getTime() - now.getTime();
  if (state === 'retiring') return left <= 0 ? 'overdue' : null;
  if (state !== 'active' || left > WARNED_BEFORE_MS) return null;
  return left <= 0 ? 'expired' : 'expires-soon';
}

/**
 * The account that comes next: the one whose making was broken off, else one with a number that was never used. `accounts` are all of
 * the partner, retired ones too; `subject` names a certificate's principal in place of a number.
 */
export function nextAccount(partner: string, accounts: readonly Account[], subject?: string): NewAccount {
  const begun = accounts.find(({ state }) => state === 'creating');
  const kind = subject === undefined ? 'scram-sha-512' : 'tls';
  if (begun?.kind === kind && (subject === undefined || begun.username === subject)) {
    return { partner, username: begun.username, kind };
  }
  return { partner, username: subject ?? `${partner}.${highestNumber(partner, accounts) + 1}`, kind };
}

function highestNumber(partner: string, accounts: readonly Pick<Account, 'username' | 'kind'>[]): number {
  const numbers = accounts
    .filter(({ kind, username }) => kind === 'scram-sha-512' && username.startsWith(`${partner}.`))
    .map(({ username }) => Number(username.slice(partner.length + 1)));
  return Math.max(0, ...numbers);
}
