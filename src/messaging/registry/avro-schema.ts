import type { SchemaSource } from './body-format';
import { SchemaMismatch } from './malformed';

/** A schema of Avro as a graph: named types are shared, and may contain themselves. */
export type AvroType =
  | { kind: 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'string' }
  | { kind: 'bytes'; logical: boolean }
  | { kind: 'fixed'; name: string; size: number }
  | { kind: 'enum'; name: string; symbols: number }
  | { kind: 'array'; items: AvroType }
  | { kind: 'map'; values: AvroType }
  | { kind: 'union'; branches: AvroType[] }
  | AvroRecord;

export interface AvroRecord {
  kind: 'record';
  /** Full name. */
  name: string;
  /** Full names. */
  aliases: string[];
  fields: AvroField[];
}

export interface AvroField {
  name: string;
  aliases: string[];
  type: AvroType;
  /** As it stands in the schema; undefined when there is none. */
  default: unknown;
}

const PRIMITIVES = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'string', 'bytes']);
const MAX_DEPTH = 64;
const MAX_TYPES = 5_000;

/**
 * Parses the text of a schema; `references` are texts that define the names it only uses. Nothing of it is run, compiled or
 * filled in: a writer's defaults are never looked at, since they say nothing about its data. Throws {@link SchemaMismatch}.
 */
export function parseAvroSchema(text: string, references: readonly SchemaSource[] = []): AvroType {
  return new SchemaParser(references).parse(text);
}

type Json = Readonly<Record<string, unknown>>;

class SchemaParser {
  private readonly named = new Map<string, AvroType>();
  private readonly references: Map<string, string>;
  private depth = 0;
  private types = 0;

  constructor(references: readonly SchemaSource[]) {
    this.references = new Map(references.map(({ name, text }) => [name, text]));
  }

  parse(text: string): AvroType {
    let schema: unknown;
    try {
      schema = JSON.parse(text);
    } catch {
      throw new SchemaMismatch('the schema is not JSON');
    }
    return this.type(schema, '');
  }

  private type(schema: unknown, namespace: string): AvroType {
    if (++this.types > MAX_TYPES) throw new SchemaMismatch(`the schema has more than ${MAX_TYPES} types`);
    if (++this.depth > MAX_DEPTH) throw new SchemaMismatch(`the schema nests deeper than ${MAX_DEPTH} levels`);
    try {
      if (typeof schema === 'string') return this.reference(schema, namespace);
      if (Array.isArray(schema)) return this.union(schema, namespace);
      if (typeof schema === 'object' && schema !== null) return this.complex(schema as Json, namespace);
      throw new SchemaMismatch('the schema has a type that is neither name, union nor object');
    } finally {
      this.depth--;
    }
  }

  /** Of each kind, and under each name, one branch at most (so says Avro): a union can't be made to look big in few bytes. */
  private union(schema: readonly unknown[], namespace: string): AvroType {
    const branches = schema.map((branch) => this.type(branch, namespace));
    if (new Set(branches.map((branch) => ('name' in branch ? branch.name : branch.kind))).size < branches.length) {
      throw new SchemaMismatch('the schema has a union with the same branch twice');
    }
    if (branches.some(({ kind }) => kind === 'union')) throw new SchemaMismatch('the schema has a union in a union');
    return { kind: 'union', branches };
  }

  private reference(name: string, namespace: string): AvroType {
    if (PRIMITIVES.has(name)) return primitive(name, false);
    for (const fullName of name.includes('.') ? [name] : [qualified(name, namespace), name]) {
      const known = this.named.get(fullName) ?? this.referenced(fullName);
      if (known) return known;
    }
    throw new SchemaMismatch(`the schema uses ${short(name)} and does not define it`);
  }

  /** Parses a referenced text when its name is first used; taken out before that, so that a cycle ends. */
  private referenced(fullName: string): AvroType | undefined {
    const text = this.references.get(fullName);
    if (text === undefined) return undefined;
    this.references.delete(fullName);
    const type = this.parse(text);
    return this.named.get(fullName) ?? type;
  }

  private complex(schema: Json, namespace: string): AvroType {
    const kind = schema['type'];
    switch (kind) {
      case 'array':
        return { kind, items: this.type(schema['items'], namespace) };
      case 'map':
        return { kind, values: this.type(schema['values'], namespace) };
      case 'record':
      case 'error':
        return this.record(schema, namespace);
      case 'enum':
        return this.define(schema, namespace, (name) => ({ kind, name, symbols: list(schema['symbols']).length }));
      case 'fixed':
        return this.define(schema, namespace, (name) => ({ kind, name, size: size(schema['size']) }));
      default:
        if (typeof kind === 'string' && PRIMITIVES.has(kind)) return primitive(kind, 'logicalType' in schema);
        return this.type(kind, namespace);
    }
  }

  private record(schema: Json, namespace: string): AvroType {
    const make = (name: string): AvroRecord => ({ kind: 'record', name, aliases: [], fields: [] });
    const record = this.define(schema, namespace, make);
    const within = namespaceOf(record.name);
    record.aliases = list(schema['aliases']).map((alias) => qualified(string(alias), within));
    // Known by its name before its fields are read: they may contain it.
    for (const field of list(schema['fields']) as Json[]) {
      record.fields.push({
        name: string(field['name']),
        aliases: list(field['aliases']).map(string),
        type: this.type(field['type'], within),
        default: field['default'],
      });
    }
    return record;
  }

  private define<T extends AvroType>(schema: Json, outer: string, make: (name: string) => T): T {
    const given = schema['namespace'];
    const name = qualified(string(schema['name']), typeof given === 'string' ? given : outer);
    if (this.named.has(name)) throw new SchemaMismatch(`the schema defines ${short(name)} twice`);
    const type = make(name);
    this.named.set(name, type);
    return type;
  }
}

function primitive(kind: string, logical: boolean): AvroType {
  return kind === 'bytes' ? { kind, logical } : ({ kind } as AvroType);
}

const qualified = (name: string, namespace: string) =>
  name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
const namespaceOf = (fullName: string) => fullName.slice(0, Math.max(0, fullName.lastIndexOf('.')));
export const unqualified = (fullName: string): string => fullName.slice(fullName.lastIndexOf('.') + 1);
/** A name from a foreign schema, fit to be told. */
export const short = (name: string): string => JSON.stringify(name.slice(0, 80));

function list(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new SchemaMismatch('the schema has something else where a list belongs');
}

function string(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new SchemaMismatch('the schema has something else where a name belongs');
}

function size(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new SchemaMismatch('the schema has a fixed type without a size');
}
