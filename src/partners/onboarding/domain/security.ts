import type { Acl, Quota } from '../../../messaging/kafka';
import type { Account, NewAccount } from '../../accounts';
import type { PartnerSpec } from '../partner-spec';
import type { Change, Changes, Difference, Note } from './plan';
import { aclName, aclsOfAccount, aclsOfParley, furtherRights, quotaOf, type TopicOfPartner } from './rights';

/** Accounts, rights and limits as they are at the broker. */
export interface SecuritySeen {
  acls: readonly Acl[];
  /** Of the accounts that the plan speaks of: those that the broker knows. */
  users: ReadonlySet<string>;
  quotas: ReadonlyMap<string, Quota>;
}

/** Why the account that comes next can't be made: its name is another partner's, or had its time. */
export interface Taken {
  why: string;
  hint: string;
}

export interface SecurityWanted {
  spec: PartnerSpec;
  topics: readonly TopicOfPartner[];
  /** Who is live, and who comes where none fits. */
  accounts: readonly Account[];
  next: NewAccount | undefined;
  nextIsTaken: Taken | undefined;
  parley: { username: string; consumerGroup: string };
  isOwned: (kind: 'acl' | 'quota', name: string) => boolean;
  allowDelete: boolean;
}

export function securityChanges(wanted: SecurityWanted, seen: SecuritySeen): Changes {
  const usernames = [...new Set([...wanted.accounts, wanted.next].flatMap((account) => account?.username ?? []))];
  const rights = aclChanges(wanted, seen, usernames);
  const quotas = usernames.map((name) => quotaChanges(name, wanted, seen));
  const users = userChanges(wanted, seen);
  return {
    changes: [...rights.changes, ...quotas.flatMap(({ changes }) => changes), ...users.changes],
    notes: [...rights.notes, ...quotas.flatMap(({ notes }) => notes), ...users.notes],
  };
}

function aclChanges(wanted: SecurityWanted, seen: SecuritySeen, usernames: readonly string[]): Changes {
  const { spec, topics, parley, isOwned, allowDelete } = wanted;
  const desired = [
    ...aclsOfParley(parley.username, parley.consumerGroup, topics),
    ...usernames.flatMap((username) => aclsOfAccount(username, spec.partner, topics)),
  ];
  const there = new Map(seen.acls.map((acl) => [aclName(acl), acl]));
  const asked = new Set(desired.map(aclName));
  const changes: Change[] = desired
    .filter((acl) => !there.has(aclName(acl)))
    .map((acl) => ({ op: '+', kind: 'acl', name: aclName(acl), acl }));
  const notes: Note[] = [];
  for (const [name, acl] of there) {
    if (asked.has(name)) continue;
    if (isOwned('acl', name)) {
      if (allowDelete) changes.push({ op: '-', kind: 'acl', name, acl });
      else
        notes.push({ kind: 'acl', name, why: 'is ours and no longer asked for: kept, for nobody said --allow-delete' });
    } else if (concerns(acl, wanted, usernames))
      notes.push({ kind: 'acl', name, why: 'is there and was not made by Parley: kept as it is' });
  }
  return { changes, notes };
}

const isOf = ({ principal }: Acl, usernames: readonly string[]): boolean =>
  usernames.some((username) => principal === `User:${username}`);

/** Rights of others on the partner's topics, and further rights of its accounts: people should know of them. */
function concerns(acl: Acl, { topics, parley, accounts }: SecurityWanted, usernames: readonly string[]): boolean {
  if (acl.principal === `User:${parley.username}`) return false;
  // An account that is disabled has rules that deny, until it is enabled again.
  const disabled = accounts.filter(({ disabledAt }) => disabledAt !== null);
  if (isOf(acl, usernames))
    return !(acl.permission === 'deny' && disabled.some(({ username }) => isOf(acl, [username])));
  if (acl.resource !== 'topic') return false;
  return topics.some(({ topic }) => (acl.pattern === 'literal' ? acl.name === topic : topic.startsWith(acl.name)));
}

const LIMITS = ['producerByteRate', 'consumerByteRate', 'requestPercentage'] as const;

/** A limit that others set stays theirs, whoever they are: with the name of an application, a partner's file would throttle it. */
function quotaChanges(username: string, { spec, isOwned }: SecurityWanted, { quotas }: SecuritySeen): Changes {
  const quota = quotaOf(spec);
  const actual = quotas.get(username) ?? {};
  const text = (value: number | undefined) => (value === undefined ? undefined : String(value));
  const differences: Difference[] = LIMITS.filter((member) => actual[member] !== quota[member]).map((member) => ({
    ...{ member, from: text(actual[member]), to: text(quota[member]) },
  }));
  if (differences.length === 0) return { changes: [], notes: [] };
  if (isOwned('quota', username) || isUnlimited(actual))
    return { changes: [{ op: '~', kind: 'quota', name: username, username, quota, differences }], notes: [] };
  return { changes: [], notes: [{ kind: 'quota', name: username, why: keptAsItIs(differences) }] };
}

const isUnlimited = (quota: Quota): boolean => LIMITS.every((member) => quota[member] === undefined);

const keptAsItIs = (differences: readonly Difference[]): string =>
  [
    'is there and was not made by Parley: kept as it is',
    ...differences.map(({ member, from, to }) => `${member} is ${from ?? 'not set'}, and would be ${to ?? 'not set'}`),
  ].join('; ');

/** The name of the account that comes next is not free, so nothing can be applied. */
export const takenNotes = (next: NewAccount, taken: Taken | undefined): Note[] =>
  taken
    ? [{ kind: 'user', name: next.username, why: taken.why, refusal: { code: 'account-exists', hint: taken.hint } }]
    : [];

function userChanges(wanted: SecurityWanted, seen: SecuritySeen): Changes {
  const { spec, accounts, next, nextIsTaken } = wanted;
  const { users } = seen;
  const notes: Note[] = accounts
    .filter(({ kind, state, username }) => kind === 'scram-sha-512' && state !== 'creating' && !users.has(username))
    .map(({ username }) => ({
      kind: 'user',
      name: username,
      why: `is gone from the broker, and its password was kept nowhere: make another with "parley partner rotate ${spec.partner}"`,
    }));
  if (!next) return { changes: [], notes };
  notes.push(...takenNotes(next, nextIsTaken));
  notes.push(...foreignNotes(next, wanted, seen));
  return { changes: [{ op: '+', kind: 'user', name: next.username, account: next }], notes };
}

/** What to do about a user that the broker has, and that Parley did not make. */
export const deleteIfNobodys = (username: string): string =>
  `Look whose it is: kafka-configs.sh --describe --entity-type users --entity-name ${username}. If it is nobody's, delete what that shows: kafka-configs.sh --alter --delete-config SCRAM-SHA-512 --entity-type users --entity-name ${username}`;

/** The broker knows that name as somebody else's, who would be given the partner's rights and limits, and lose them with it. */
function foreignNotes(next: NewAccount, wanted: SecurityWanted, seen: SecuritySeen): Note[] {
  const { kind, username } = next;
  const refused = (why: string, hint: string): Note[] => [
    { kind: 'user', name: username, why, refusal: { code: 'account-foreign', hint } },
  ];
  if (kind === 'scram-sha-512') {
    const isBegun = wanted.accounts.some((account) => account.username === username);
    if (isBegun || !seen.users.has(username)) return [];
    return refused('is there and was not made by Parley', deleteIfNobodys(username));
  }
  if (seen.users.has(username))
    return refused(
      'has a password at the broker, and so is no certificate of the partner',
      "Name the subject of the partner's certificate, as the broker's mapping rule makes it.",
    );
  const further = furtherRights(
    seen.acls.filter((acl) => isOf(acl, [username])),
    aclsOfAccount(username, wanted.spec.partner, wanted.topics),
    (name) => wanted.isOwned('acl', name),
  );
  if (further.length === 0) return [];
  return refused(
    `may already do what no partner may, and so is somebody else's: ${further.join(', ')}`,
    `Name the subject of the partner's certificate. If it is this one, take those rights away until it is onboarded: kafka-acls.sh --list --principal User:${username}`,
  );
}
