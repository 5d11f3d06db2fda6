import type { Acl, Quota } from '../../../messaging/kafka';
import type { Account, NewAccount } from '../../accounts';
import type { PartnerSpec } from '../partner-spec';
import type { Change, Changes, Difference, Note } from './plan';
import { aclName, aclsOfAccount, aclsOfParley, quotaOf, type TopicOfPartner } from './rights';

/** Accounts, rights and limits as they are at the broker. */
export interface SecuritySeen {
  acls: readonly Acl[];
  /** Of the accounts that the plan speaks of: those that the broker knows. */
  users: ReadonlySet<string>;
  quotas: ReadonlyMap<string, Quota>;
}

export interface SecurityWanted {
  spec: PartnerSpec;
  topics: readonly TopicOfPartner[];
  /** Who is live, and who comes where none fits. */
  accounts: readonly Account[];
  next: NewAccount | undefined;
  /** Why the next one can't be made. */
  nextIsTaken: string | undefined;
  parley: { username: string; consumerGroup: string };
  isOwned: (kind: 'acl', name: string) => boolean;
  allowDelete: boolean;
}

export function securityChanges(wanted: SecurityWanted, seen: SecuritySeen): Changes {
  const usernames = [...new Set([...wanted.accounts, wanted.next].flatMap((account) => account?.username ?? []))];
  const rights = aclChanges(wanted, seen, usernames);
  const users = userChanges(wanted, seen);
  return {
    changes: [...rights.changes, ...usernames.flatMap((name) => quotaChange(name, wanted, seen)), ...users.changes],
    notes: [...rights.notes, ...users.notes],
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

function quotaChange(username: string, { spec }: SecurityWanted, { quotas }: SecuritySeen): Change[] {
  const quota = quotaOf(spec);
  const actual = quotas.get(username) ?? {};
  const text = (value: number | undefined) => (value === undefined ? undefined : String(value));
  const differences: Difference[] = LIMITS.filter((member) => actual[member] !== quota[member]).map((member) => ({
    ...{ member, from: text(actual[member]), to: text(quota[member]) },
  }));
  return differences.length === 0 ? [] : [{ op: '~', kind: 'quota', name: username, username, quota, differences }];
}

/** The name of the account that comes next is not free, so nothing can be applied. */
export const takenNotes = (next: NewAccount, why: string | undefined): Note[] =>
  why === undefined
    ? []
    : [
        {
          ...{ kind: 'user', name: next.username, why },
          refusal: { code: 'account-exists', hint: "Name the subject of this partner's newest certificate." },
        },
      ];

function userChanges({ spec, accounts, next, nextIsTaken }: SecurityWanted, { users }: SecuritySeen): Changes {
  const notes: Note[] = accounts
    .filter(({ kind, state, username }) => kind === 'scram-sha-512' && state !== 'creating' && !users.has(username))
    .map(({ username }) => ({
      kind: 'user',
      name: username,
      why: `is gone from the broker, and its password was kept nowhere: make another with "parley partner rotate ${spec.partner}"`,
    }));
  if (!next) return { changes: [], notes };
  notes.push(...takenNotes(next, nextIsTaken));
  const isBegun = accounts.some(({ username }) => username === next.username);
  if (next.kind === 'scram-sha-512' && !isBegun && users.has(next.username))
    notes.push({
      kind: 'user',
      name: next.username,
      why: 'is there and was not made by Parley',
      refusal: {
        code: 'account-foreign',
        hint: `Look whose it is. If it is nobody's, delete it: kafka-configs.sh --alter --delete-config SCRAM-SHA-512 --entity-type users --entity-name ${next.username}`,
      },
    });
  return { changes: [{ op: '+', kind: 'user', name: next.username, account: next }], notes };
}
