import { PERSONAL_DATA } from '../../contracts';
import { checkSchemaText } from '../registry';
import { UnreadableSchema } from './break';

export type JsonObject = Readonly<Record<string, unknown>>;

/** What a validator does not look at. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...['title', 'description', 'examples', '$comment', 'default', 'deprecated', 'readOnly', 'writeOnly'],
  PERSONAL_DATA,
]);

/** Reads schema text. Throws {@link UnreadableSchema}, or SchemaRefused beyond our limits. Nothing of it is compiled, and its patterns never run. */
export function readJsonSchema(text: string): unknown {
  checkSchemaText({ format: 'json-schema', text }, 'One');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableSchema(`not JSON: ${(error as Error).message}`);
  }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Own members only: a property may be called `constructor`. */
export const member = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Keywords whose value maps names to schemas: the names there are no keywords. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
/** Keywords whose value is data, not a schema. */
const DATA = new Set(['const', 'enum', 'required', 'dependentRequired', 'type']);

/** Text that is equal when two schemas mean the same letter for letter: annotations left out, members sorted. */
export function canonical(schema: unknown): string {
  return JSON.stringify(withoutAnnotations(schema));
}

function withoutAnnotations(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutAnnotations);
  if (!isObject(schema)) return schema;
  return sorted(
    Object.entries(schema)
      .filter(([keyword]) => !ANNOTATIONS.has(keyword))
      .map(([keyword, value]) => [keyword, keywordValue(keyword, value)]),
  );
}

function keywordValue(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return canonicalData(value);
  if (!MAPS.has(keyword) || !isObject(value)) return withoutAnnotations(value);
  return sorted(Object.entries(value).map(([name, schema]) => [name, withoutAnnotations(schema)]));
}

/** Data with sorted members; the order of arrays counts. */
export function canonicalData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalData);
  if (!isObject(value)) return value;
  return sorted(Object.entries(value).map(([name, inner]) => [name, canonicalData(inner)]));
}

const sorted = (entries: [string, unknown][]): unknown =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Every target of a reference. */
export function referencesIn(value: unknown, found: string[] = []): string[] {
  if (Array.isArray(value)) for (const inner of value) referencesIn(inner, found);
  else if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      if ((name === '$ref' || name === '$dynamicRef' || name === '$recursiveRef') && typeof inner === 'string')
        found.push(inner);
      else referencesIn(inner, found);
    }
  }
  return found;
}
