import type { RegisteredSchema, SchemaReference, SchemaRegistry, SchemaText } from './schema-registry';
import { SchemaRefused } from './schema-text';

const MAX_DEPTH = 8;
const MAX_SCHEMAS = 50;
const MAX_BYTES = 2 * 1024 * 1024;

/** `name`: as the schema that refers to it calls it. */
export interface ResolvedReference {
  name: string;
  schema: RegisteredSchema;
}

/**
 * All schemas that one refers to, also through others: each once, and after those that it needs itself. Rejects with
 * SchemaRefused for circles, for what the registry lacks and beyond 8 levels, 50 schemas or 2 MiB of text.
 */
export async function resolveReferences(registry: SchemaRegistry, schema: SchemaText): Promise<ResolvedReference[]> {
  const resolved: ResolvedReference[] = [];
  const seen = new Set<string>();
  let bytes = 0;

  async function resolve(owner: SchemaText, path: readonly string[]): Promise<void> {
    for (const { name, subject, version } of owner.references) {
      const place = `${subject} version ${version}`;
      if (path.includes(place)) throw new SchemaRefused(`A schema refers to itself through ${place}.`);
      const key = `${place} ${name}`;
      if (seen.has(key)) continue;
      seen.add(key);
      if (path.length >= MAX_DEPTH) throw new SchemaRefused(`References are nested deeper than ${MAX_DEPTH} levels.`);
      if (seen.size > MAX_SCHEMAS) throw new SchemaRefused(`A schema refers to more than ${MAX_SCHEMAS} others.`);
      const found = await referenced(registry, owner, { name, subject, version });
      bytes += Buffer.byteLength(found.text);
      if (bytes > MAX_BYTES) throw new SchemaRefused(`A schema refers to more than ${MAX_BYTES} bytes of others.`);
      await resolve(found, [...path, place]);
      resolved.push({ name, schema: found });
    }
  }

  await resolve(schema, []);
  return resolved;
}

async function referenced(
  registry: SchemaRegistry,
  owner: SchemaText,
  { name, subject, version }: SchemaReference,
): Promise<RegisteredSchema> {
  const found = await registry.version(subject, version);
  if (!found) throw new SchemaRefused(`"${name}" stands for ${subject} version ${version}, which the registry lacks.`);
  if (found.format !== owner.format) {
    throw new SchemaRefused(`"${name}" stands for ${subject} version ${version}, which is of another format.`);
  }
  return found;
}
