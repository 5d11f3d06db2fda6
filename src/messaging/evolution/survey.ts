import { typeOf } from '../../contracts';
import { AppError } from '../../platform/errors';
import type { SchemaInUse } from '../channels';
import type { RegisteredSchema, SchemaRegistry } from '../registry';
import type { Break } from './break';
import { judgeSchemas } from './judge';
import type { Subject } from './subjects';

/** A break with the version that it was found against; none where it is not about one. */
export interface FoundBreak extends Break {
  version: number | undefined;
}

/** A schema that the partner's records named. `version`: of the subject, or of `<topic>-value`; none: nobody has it. */
export interface UsedSchema {
  schemaId: number;
  lastSeenAt: Date;
  version: number | undefined;
}

/** What stands in the registry beside one of our schemas, and what the two say of each other. */
export interface Finding {
  subject: Subject;
  /** Every registered version, oldest first. */
  versions: readonly RegisteredSchema[];
  /** Our text as it is registered; undefined: it is not. */
  published: RegisteredSchema | undefined;
  used: readonly UsedSchema[];
  breaks: readonly FoundBreak[];
}

const AT_ONCE = 4;

/**
 * Compares our schemas with all registered versions (FULL_TRANSITIVE: dead letters and replays make every old one readable
 * again) and with those that partners' records named last. Only reads. Rejects with RegistryUnavailable.
 */
export async function survey(
  registry: SchemaRegistry,
  subjects: readonly Subject[],
  uses: readonly SchemaInUse[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let from = 0; from < subjects.length; from += AT_ONCE) {
    const some = subjects.slice(from, from + AT_ONCE);
    findings.push(...(await Promise.all(some.map((subject) => find(registry, subject, usesOf(subject, uses))))));
  }
  return findings;
}

const usesOf = (subject: Subject, uses: readonly SchemaInUse[]) =>
  uses.filter(({ topic, type }) => topic === subject.topic && type === typeOf(subject.contract));

async function find(registry: SchemaRegistry, subject: Subject, uses: readonly SchemaInUse[]): Promise<Finding> {
  const breaks: FoundBreak[] = [];
  const unreadable = (error: Error) =>
    void breaks.push({ version: undefined, place: '', rule: 'unreadable', detail: error.message });
  const versions = await registry.versions(subject.name, unreadable);
  const published = versions.length === 0 ? undefined : await registry.lookup(subject.name, subject.schema);
  // Clients that know of one document a topic register it here.
  const others = uses.every(({ schemaId }) => versions.some(({ id }) => id === schemaId))
    ? []
    : await registry.versions(`${subject.topic}-value`, () => undefined);
  const used = uses.map(({ schemaId, lastSeenAt }) => {
    const schema = [...versions, ...others].find(({ id }) => id === schemaId);
    return { schemaId, lastSeenAt, version: schema?.version, schema };
  });
  const compared = new Map([...versions, ...used.flatMap(({ schema }) => schema ?? [])].map((one) => [one.id, one]));
  for (const older of compared.values()) {
    const at = older.subject === subject.name ? '' : ` (${older.subject})`;
    for (const found of breaksAgainst(older, subject))
      breaks.push({ ...found, version: older.version, detail: `${found.detail}${at}` });
  }
  for (const { schemaId, schema } of used) {
    if (schema) continue;
    const detail = `Records of ${subject.partner} named the schema id ${schemaId}, which no subject of ${subject.topic} has.`;
    breaks.push({ version: undefined, place: '', rule: 'id-unregistered', detail });
  }
  // The registry judges by the level that is set, which may be none yet: its yes proves nothing, its no is enough.
  if (subject.schema.format === 'avro' && versions.length > 0 && breaks.length === 0)
    breaks.push(...(await refusals(registry, subject)));
  return { subject, versions, published, breaks, used: used.map(({ schema: _, ...use }) => use) };
}

function breaksAgainst(older: RegisteredSchema, { schema, contract }: Subject): Break[] {
  if (older.format !== schema.format) {
    const detail = `It was registered as ${older.format}, and ${contract.name} is ${schema.format} on this channel.`;
    return [{ place: '', rule: 'format-changed', detail }];
  }
  if (older.references.length > 0 && older.text !== schema.text) {
    const detail = 'It refers to other schemas, which ours never does.';
    return [{ place: '', rule: 'not-comparable', detail }];
  }
  return judgeSchemas(schema.format, older.text, schema.text);
}

async function refusals(registry: SchemaRegistry, { name, schema }: Subject): Promise<FoundBreak[]> {
  const refused = (detail: string): FoundBreak => ({ version: undefined, place: '', rule: 'registry-refused', detail });
  try {
    const { compatible, reasons } = await registry.judge(name, schema);
    if (compatible) return [];
    return reasons.length > 0 ? reasons.map(refused) : [refused('The registry refuses it without a reason.')];
  } catch (error) {
    // 422: to the registry it is no schema at all.
    if (error instanceof AppError && error.code === 'registry-refused') return [refused(error.message)];
    throw error;
  }
}
