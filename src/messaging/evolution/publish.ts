import { AppError, messageOf } from '../../platform/errors';
import { type CompatibilityLevel, RegistryUnavailable, type SchemaRegistry } from '../registry';
import type { Subject } from './subjects';
import type { Finding } from './survey';

/** What publishing does with one subject. `known`: ids of its versions when the plan was made. */
export interface PublishStep {
  subject: Subject;
  action: 'new' | 'next-version' | 'unchanged';
  known: readonly number[];
}

export interface PublishOutcome extends PublishStep {
  /** `plan-changed`: others registered a version meanwhile; the plan was made without it. */
  result: 'registered' | 'unchanged' | 'failed' | 'plan-changed' | 'not-tried';
  id?: number;
  version?: number;
  /** Of a failure. */
  reason?: string;
}

/** The registry judges Avro, too. Of Protobuf and JSON Schema registries think differently from us and each other: Parley judges alone. */
const LEVELS: Readonly<Record<Subject['schema']['format'], CompatibilityLevel>> = {
  avro: 'FULL_TRANSITIVE',
  protobuf: 'NONE',
  'json-schema': 'NONE',
};

/** What {@link publish} will do. The findings must be without breaks: AppError `schema-breaks` otherwise. */
export function planOf(findings: readonly Finding[]): PublishStep[] {
  if (findings.some(({ breaks }) => breaks.length > 0))
    throw new AppError('schema-breaks', 'A schema breaks a published one; nothing is registered.', {
      retriable: false,
      hint: 'Undo the change, or state it as a new version of the contract. "parley contracts check" names each place.',
    });
  return findings.map(({ subject, versions, published }) => ({
    subject,
    action: published ? 'unchanged' : versions.length === 0 ? 'new' : 'next-version',
    known: versions.map(({ id }) => id),
  }));
}

/**
 * Registers what the plan says and sets each subject's level, also where nothing is new. A step that fails stops none of the
 * others; an outage ends it. Again goes on where it stopped. The only place in Parley that registers.
 */
export async function publish(registry: SchemaRegistry, plan: readonly PublishStep[]): Promise<PublishOutcome[]> {
  const outcomes: PublishOutcome[] = [];
  let away = false;
  for (const step of plan) {
    if (away) {
      outcomes.push({ ...step, result: 'not-tried' });
      continue;
    }
    try {
      outcomes.push({ ...step, ...(await carryOut(registry, step)) });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      away = error instanceof RegistryUnavailable;
      outcomes.push({ ...step, result: 'failed', reason: messageOf(error) });
    }
  }
  return outcomes;
}

async function carryOut(registry: SchemaRegistry, step: PublishStep): Promise<Omit<PublishOutcome, keyof PublishStep>> {
  const { name, schema } = step.subject;
  const level = LEVELS[schema.format];
  if (step.action === 'unchanged') {
    await registry.setCompatibility(name, level);
    return { result: 'unchanged' };
  }
  const now = (await registry.versions(name, () => undefined)).map(({ id }) => id);
  if (now.join() !== step.known.join())
    return { result: 'plan-changed', reason: 'A version was registered meanwhile; run it again.' };
  // Before the schema, so that the registry judges it too; some take a level for subjects only that they know.
  const early = await takes(registry, name, level);
  const { id, version } = await registry.register(name, schema);
  if (!early) await registry.setCompatibility(name, level);
  return { result: 'registered', id, version };
}

async function takes(registry: SchemaRegistry, name: string, level: CompatibilityLevel): Promise<boolean> {
  try {
    await registry.setCompatibility(name, level);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'registry-refused') return false;
    throw error;
  }
}
