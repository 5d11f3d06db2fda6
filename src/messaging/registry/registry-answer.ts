import type { RegisteredFormat } from '../../contracts';
import type { RegisteredSchema, SchemaReference } from './schema-registry';
import { checkSchemaText, SchemaRefused } from './schema-text';

/** An answer that is not what the API promises: a proxy's page, another service, a registry that is ill. */
export class UnsoundAnswer extends Error {}

/** Error of the API: `{"error_code": 40401, "message": "Subject 'x' not found."}`. */
export interface Problem {
  code: number;
  message: string;
}

const FORMATS: ReadonlyMap<string, RegisteredFormat> = new Map([
  ['AVRO', 'avro'],
  ['PROTOBUF', 'protobuf'],
  ['JSON', 'json-schema'],
]);

/** Name of our format in the API. */
export function schemaTypeOf(format: RegisteredFormat): string {
  return { avro: 'AVRO', protobuf: 'PROTOBUF', 'json-schema': 'JSON' }[format];
}

type Members = Readonly<Record<string, unknown>>;

function members(value: unknown): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new UnsoundAnswer('it is not an object');
}

function natural(value: unknown, name: string, min: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= 0x7fffffff) return value as number;
  throw new UnsoundAnswer(`its ${name} is not a number`);
}

function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new UnsoundAnswer(`its ${name} is not a text`);
}

export function readProblem(value: unknown): Problem | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { error_code: code, message } = value as Members;
  return Number.isInteger(code)
    ? { code: code as number, message: typeof message === 'string' ? message : '' }
    : undefined;
}

/** Version numbers, oldest first. */
export function readVersions(value: unknown): number[] {
  if (!Array.isArray(value)) throw new UnsoundAnswer('it is not a list');
  const numbers = new Set(value.map((number) => natural(number, 'version', 1)));
  return [...numbers].sort((one, other) => one - other);
}

/** Where the registry keeps a schema. Answers about a text that we sent leave out its type, whatever it is. */
export function readPlace(value: unknown): Pick<RegisteredSchema, 'id' | 'version' | 'guid'> {
  const { id, version, guid } = members(value);
  return {
    id: natural(id, 'id', 0),
    version: natural(version, 'version', 1),
    ...(guid === undefined || guid === null ? {} : { guid: text(guid, 'guid') }),
  };
}

export function readId(value: unknown): number {
  return natural(members(value)['id'], 'id', 0);
}

/** A version of a subject, its text within limits. Throws {@link SchemaRefused} for one that we don't work with. */
export function readSchema(value: unknown, subject: string, version: number): RegisteredSchema {
  const { schema, schemaType, references } = members(value);
  const place = readPlace(value);
  if (place.version !== version) throw new UnsoundAnswer('it is about another version');
  const name = `Version ${version} of ${subject}`;
  const type = text(schemaType ?? 'AVRO', 'schemaType');
  const format = FORMATS.get(type);
  const content = text(schema, 'schema');
  const named = (references ?? []) as unknown;
  if (!Array.isArray(named)) throw new UnsoundAnswer('its references are not a list');
  if (!format) throw new SchemaRefused(`${name} is of the type ${type.slice(0, 40)}, which is none of ours.`);
  checkSchemaText({ format, text: content }, name);
  return { ...place, subject, format, text: content, references: named.map((one) => readReference(one, name)) };
}

function readReference(value: unknown, owner: string): SchemaReference {
  const { name, subject, version } = members(value);
  if (!Number.isInteger(version) || (version as number) < 1) {
    throw new SchemaRefused(`${owner} refers to a version that is no number.`);
  }
  return { name: text(name, 'reference'), subject: text(subject, 'reference'), version: version as number };
}

export function readVerdict(value: unknown): { compatible: boolean; reasons: string[] } {
  const { is_compatible: compatible, messages } = members(value);
  if (typeof compatible !== 'boolean') throw new UnsoundAnswer('it has no verdict');
  const reasons = Array.isArray(messages) ? messages.filter((reason) => typeof reason === 'string') : [];
  return { compatible, reasons: reasons.map((reason) => reason.slice(0, 1000)) };
}

/** Level in force after it was set; registries name the member differently. */
export function readLevel(value: unknown): string {
  const { compatibility, compatibilityLevel } = members(value);
  return text(compatibility ?? compatibilityLevel, 'compatibility');
}
