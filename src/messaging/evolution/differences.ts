import { isUnreadable } from './judge';
import { type Member, membersOf } from './members';
import type { Finding } from './survey';

/** What a document says otherwise than the newest registered version, in words. */
export interface Difference {
  contract: string;
  format: string;
  /** `adds optional \`incoterm\``, `is not published yet`, … */
  change: string;
  /** What it means to the partners: `acme (v1) ignores it`, or only whom it concerns. */
  partners: string;
}

/** What a change means to a partner: for one and for several of them. */
type Effect = readonly [string, string];

interface Change {
  change: string;
  /** By the document's direction: where the partner reads (`out`), and where it writes. */
  effect?: Readonly<Record<'out' | 'in', Effect>>;
}

/** Everything that publishing would change, partners with the same change in one. */
export function differencesOf(findings: readonly Finding[]): Difference[] {
  const found = new Map<string, { finding: Finding; change: Change; partners: string[] }>();
  for (const finding of findings) {
    const { contract, partner, schema } = finding.subject;
    const version = versionOf(finding);
    for (const change of changesOf(finding)) {
      const key = `${contract.name} ${schema.format} ${change.change}`;
      const there = found.get(key) ?? { finding, change, partners: [] };
      there.partners.push(version === undefined ? partner : `${partner} (v${version})`);
      found.set(key, there);
    }
  }
  return [...found.values()].map(({ finding: { subject }, change: { change, effect }, partners }) => {
    const [one, many] = effect?.[subject.direction] ?? ['', ''];
    const meaning = partners.length === 1 ? one : many;
    return {
      contract: subject.contract.name,
      format: subject.schema.format,
      change,
      partners: `${partners.join(', ')}${meaning && ` ${meaning}`}`,
    };
  });
}

/** `order-request (avro): adds optional \`incoterm\`; acme (v1) ignores it`. */
export function inWords({ contract, format, change, partners }: Difference): string {
  return `${contract} (${format}): ${change}; ${partners}`;
}

/** What the partner knows: the version that its records named last, or the newest that it may have been given. */
function versionOf({ used, versions }: Finding): number | undefined {
  const latest = used.toSorted((a, b) => b.lastSeenAt.getTime() - a.lastSeenAt.getTime())[0];
  return latest?.version ?? versions.at(-1)?.version;
}

function changesOf({ versions, breaks, subject }: Finding): Change[] {
  const newest = versions.at(-1);
  if (!newest) return [{ change: 'is not published yet' }];
  const broken = new Set(breaks.map(({ place, rule }) => `breaks${place && ` \`${place}\``} (${rule})`));
  const changes: Change[] = [...broken].map((change) => ({ change }));
  if (newest.text === subject.schema.text || newest.format !== subject.schema.format) return changes;
  try {
    changes.push(
      ...changesBetween(membersOf(newest.format, newest.text), membersOf(subject.schema.format, subject.schema.text)),
    );
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    if (breaks.length === 0) changes.push({ change: `is not described in words: ${error.message}` });
  }
  return changes;
}

type Members = ReadonlyMap<string, Member>;

const ADDED = {
  out: ['ignores it', 'ignore it'],
  in: ['does not send it', 'do not send it'],
} as const;
const REMOVED = {
  out: ['gets it no longer', 'get it no longer'],
  in: ['may still send it, and nobody reads it', 'may still send it, and nobody reads it'],
} as const;

function changesBetween(then: Members, now: Members): Change[] {
  const kind = (member: Member | undefined) => (member?.optional ? 'optional ' : '');
  const added = missingIn(then, now).map((path) => ({
    change: `adds ${kind(now.get(path))}\`${path}\``,
    effect: ADDED,
  }));
  const removed = missingIn(now, then).map((path) => ({
    change: `removes ${kind(then.get(path))}\`${path}\``,
    effect: REMOVED,
  }));
  const told = [...now]
    .filter(([path, { doc }]) => then.has(path) && then.get(path)?.doc !== doc)
    .map(([path]) => ({ change: `describes ${path === '' ? 'itself' : `\`${path}\``} otherwise` }));
  return [...added, ...removed, ...told];
}

/** Paths that only the second has; what comes with a path that is missing itself is not told apart. */
function missingIn(there: Members, members: Members): string[] {
  const missing = [...members.keys()].filter((path) => !there.has(path));
  const within = (path: string, outer: string) => path.startsWith(outer) && /^[.[{]/.test(path.slice(outer.length));
  return missing.filter((path) => !missing.some((outer) => within(path, outer)));
}
