import { createHash } from 'node:crypto';
import { deadLetterTopic } from '../../messaging/channels';
import { NonRetriableError } from '../../platform/errors';
import { liveOf, type NewAccount } from '../accounts';
import { type Actual, lookAt, type OnboardingParts } from './actual';
import { channelsOf, type DesiredTopic, desiredTopics, type NewChannel } from './desired';
import { type Change, type Changes, type Difference, lineOf, type Note, noteLineOf } from './domain/plan';
import { securityChanges, type Taken, takenNotes } from './domain/security';
import { channelChanges, topicChanges } from './domain/topics';
import { keyOf } from './owned';
import type { PartnerSpec } from './partner-spec';

/** What onboarding would do now. Applying takes the changes in this order, in which every beginning is harmless. */
export interface PartnerPlan extends Changes {
  /** Hash of all that it says: the same plan has the same id. */
  id: string;
  spec: PartnerSpec;
  actual: Actual;
}

/** Looks at everything and changes nothing. */
export async function planPartner(
  parts: OnboardingParts,
  spec: PartnerSpec,
  { allowDelete }: { allowDelete: boolean },
): Promise<PartnerPlan> {
  const desired = { topics: desiredTopics(spec), channels: channelsOf(spec) };
  const actual = await lookAt(parts, spec, desired);
  const { changes, notes } = compare(parts, spec, { desired, actual, allowDelete });
  const id = createHash('sha256')
    .update(JSON.stringify([spec, changes.map(lineOf), notes.map(noteLineOf)]))
    .digest('hex')
    .slice(0, 16);
  return { id, spec, actual, changes, notes };
}

/** Throws what keeps the plan from being applied at all; says how many more there are. */
export function expectApplicable({ notes }: Changes): void {
  const [first, ...others] = notes.filter((note): note is Note & Required<Pick<Note, 'refusal'>> => !!note.refusal);
  if (!first) return;
  const more = others.length > 0 ? ` (${others.length} more: see the plan)` : '';
  const { code, hint } = first.refusal;
  throw new NonRetriableError(code, `The ${first.kind} ${first.name} ${first.why}${more}.`, { hint });
}

interface Compared {
  desired: { topics: readonly DesiredTopic[]; channels: readonly NewChannel[] };
  actual: Actual;
  allowDelete: boolean;
}

function compare(parts: OnboardingParts, spec: PartnerSpec, { desired, actual, allowDelete }: Compared): Changes {
  const isOwned = (kind: 'topic' | 'acl' | 'quota', name: string) => actual.owned.has(keyOf({ kind, name }));
  // An onboarding that finished wrote down what is ours: what it did not make has a channel all the same.
  const before = actual.spec ? [] : [...actual.channels.keys()];
  const adoptable = new Set(before.flatMap((topic) => [topic, deadLetterTopic(topic)]));
  const seen = { ...actual, isOwned: (topic: string) => isOwned('topic', topic) };
  const there = topicChanges(desired.topics, { ...seen, isAdopted: (topic) => adoptable.has(topic) });
  const topics = parts.elsewhere ? madeElsewhere(there) : there;
  const channels = channelChanges(desired.channels, actual.channels);
  const security =
    parts.accounts && actual.security
      ? securityChanges(
          {
            ...{ spec, topics: desired.topics, accounts: liveOf(actual.accounts) },
            ...{ next: actual.next, nextIsTaken: actual.nextIsTaken },
            ...{ parley: parts.accounts, isOwned, allowDelete },
          },
          actual.security,
        )
      : { changes: [], notes: [] };
  const subjects: Change[] = actual.subjects.map((step) => ({
    op: '+',
    kind: 'subject',
    name: step.subject.name,
    step,
  }));
  const others =
    parts.elsewhere && actual.next ? knownUser(actual.next, actual.nextIsTaken) : { changes: [], notes: [] };
  const isUser = ({ kind }: Change) => kind === 'user';
  return {
    changes: [
      ...topics.changes,
      ...security.changes.filter((change) => !isUser(change)),
      ...subjects,
      ...security.changes.filter(isUser),
      ...others.changes,
      ...channels.changes,
      ...partnerChanges(spec, actual),
    ],
    notes: [
      ...channels.notes,
      ...topics.notes,
      ...security.notes,
      ...others.notes,
      ...replacedNotes(spec, actual),
      ...unpublished(parts, desired.channels),
    ],
  };
}

const knownUser = (account: NewAccount, taken: Taken | undefined): Changes => ({
  changes: [{ op: '=', kind: 'user', name: account.username, account }],
  notes: takenNotes(account, taken),
});

/** Nothing is made here, and a partner whose topics are not there yet is not begun. */
function madeElsewhere({ changes, notes }: Changes): Changes {
  const missing = changes.filter(({ op }) => op === '+');
  return {
    changes: [],
    notes: [
      ...notes,
      ...missing.map(({ name }) => ({
        ...{ kind: 'topic' as const, name, why: 'is not there yet, and is made elsewhere' },
        refusal: {
          code: 'topic-missing',
          hint: 'Have the resources applied first: parley partner onboard … --emit strimzi',
        },
      })),
    ],
  };
}

/** A file of before a rotation takes nothing back, and is not what the partner is. */
function replacedNotes({ partner }: PartnerSpec, { replaced, accounts }: Actual): Note[] {
  if (!replaced) return [];
  const active = accounts.find(({ state }) => state === 'active');
  return [
    {
      ...{ kind: 'user', name: replaced.username },
      why: `is ${replaced.state}, and new clients get ${active?.username ?? 'none'}: say that one in the file; for another certificate: parley partner rotate ${partner} --subject …`,
    },
  ];
}

/** The file, but for a certificate that was replaced: that is not fulfilled, and not remembered as if it were. */
export const fulfilledSpec = (spec: PartnerSpec, { replaced, spec: before }: Actual): PartnerSpec =>
  replaced && before ? { ...spec, authentication: before.authentication } : spec;

/** What only our own tables say of the partner. */
function partnerChanges(file: PartnerSpec, actual: Actual): Change[] {
  const { partner, spec: before } = actual;
  const spec = fulfilledSpec(file, actual);
  if (!partner) return [{ op: '+', kind: 'partner', name: spec.partner }];
  const differences: Difference[] = [
    ...difference('name', partner.name, spec.name),
    ...difference('authentication', before?.authentication, spec.authentication),
    ...difference('quotas', before?.quotas, spec.quotas),
    ...difference('topics', before?.topics, spec.topics),
    ...difference('credentialDays', before?.credentialDays, spec.credentialDays),
  ];
  return differences.length === 0 ? [] : [{ op: '~', kind: 'partner', name: spec.partner, differences }];
}

type Said = string | number | Readonly<Record<string, string | number>> | undefined;

function difference(member: string, from: Said, to: Said): Difference[] {
  const [before, after] = [wordsOf(from), wordsOf(to)];
  return before === after ? [] : [{ member, from: before, to: after }];
}

/** Sorted, for jsonb keeps members in an order of its own. */
function wordsOf(value: Said): string | undefined {
  if (typeof value !== 'object') return value === undefined ? undefined : String(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, member]) => `${name}=${member}`).join(' ');
}

function unpublished({ registry }: OnboardingParts, channels: readonly NewChannel[]): Note[] {
  const registered = channels.find(({ format }) => format !== 'json');
  if (registry || !registered) return [];
  return [
    {
      kind: 'subject',
      name: registered.partner,
      why: `its documents travel as ${registered.format}, whose schemas are in a registry, and none is configured: set SCHEMA_REGISTRY_URLS, then run this again or "parley contracts publish"`,
    },
  ];
}
