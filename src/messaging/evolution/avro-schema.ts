import { checkSchemaText } from '../registry';
import { UnreadableSchema } from './break';

/** One type of an Avro schema; a named one that comes again is the same object. */
export type AvroType =
  | { kind: 'primitive'; name: string; logical: string }
  | { kind: 'record'; name: string; aliases: readonly string[]; fields: readonly AvroField[]; doc: string }
  | { kind: 'enum'; name: string; aliases: readonly string[]; symbols: readonly string[]; default: string | undefined }
  | { kind: 'fixed'; name: string; aliases: readonly string[]; size: number; logical: string }
  | { kind: 'array'; of: AvroType }
  | { kind: 'map'; of: AvroType }
  | { kind: 'union'; branches: readonly AvroType[] };

export interface AvroField {
  name: string;
  aliases: readonly string[];
  type: AvroType;
  /** JSON text of the default; undefined: there is none. */
  default: string | undefined;
  doc: string;
}

const PRIMITIVES = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string']);

type Json = Readonly<Record<string, unknown>>;

/** Reads an `.avsc` as plain data. Throws {@link UnreadableSchema}, or SchemaRefused beyond our limits. */
export function readAvro(text: string): AvroType {
  checkSchemaText({ format: 'avro', text }, 'One');
  try {
    return new Reader().type(JSON.parse(text), '');
  } catch (error) {
    throw new UnreadableSchema(`not Avro: ${(error as Error).message}`);
  }
}

class Reader {
  private readonly named = new Map<string, AvroType>();

  type(schema: unknown, namespace: string): AvroType {
    if (typeof schema === 'string') return this.byName(schema, namespace, '');
    if (Array.isArray(schema)) return { kind: 'union', branches: schema.map((branch) => this.type(branch, namespace)) };
    if (typeof schema !== 'object' || schema === null) throw new Error('a type is missing');
    const definition = schema as Json;
    switch (definition['type']) {
      case 'record':
      case 'error':
        return this.record(definition, namespace);
      case 'enum':
        return this.define(definition, namespace, (name, aliases) => ({
          ...{ kind: 'enum', name, aliases, symbols: list(definition['symbols']) },
          default: typeof definition['default'] === 'string' ? definition['default'] : undefined,
        }));
      case 'fixed':
        return this.define(definition, namespace, (name, aliases) => ({
          ...{ kind: 'fixed', name, aliases, size: Number(definition['size']), logical: logicalOf(definition) },
        }));
      case 'array':
        return { kind: 'array', of: this.type(definition['items'], namespace) };
      case 'map':
        return { kind: 'map', of: this.type(definition['values'], namespace) };
      default:
        return typeof definition['type'] === 'string'
          ? this.byName(definition['type'], namespace, logicalOf(definition))
          : this.type(definition['type'], namespace);
    }
  }

  private byName(name: string, namespace: string, logical: string): AvroType {
    if (PRIMITIVES.has(name)) return { kind: 'primitive', name, logical };
    const known = this.named.get(fullName(name, namespace));
    if (!known) throw new Error(`${name} is not defined in this text`);
    return known;
  }

  private define(
    definition: Json,
    namespace: string,
    make: (name: string, aliases: readonly string[]) => AvroType,
  ): AvroType {
    const { name, inner } = nameOf(definition, namespace);
    if (this.named.has(name)) throw new Error(`${name} is defined twice`);
    const type = make(
      name,
      list(definition['aliases']).map((alias) => fullName(alias, inner)),
    );
    this.named.set(name, type);
    return type;
  }

  private record(definition: Json, namespace: string): AvroType {
    const fields: AvroField[] = [];
    const type = this.define(definition, namespace, (name, aliases) => ({
      ...{ kind: 'record', name, aliases, fields, doc: textOf(definition['doc']) },
    }));
    const { inner } = nameOf(definition, namespace);
    if (!Array.isArray(definition['fields'])) throw new Error('a record without fields');
    // The record is known before its fields are read: they may hold it.
    for (const field of definition['fields'] as Json[]) {
      fields.push({
        name: textOf(field['name']),
        aliases: list(field['aliases']),
        type: this.type(field['type'], inner),
        default: 'default' in field ? JSON.stringify(field['default']) : undefined,
        doc: textOf(field['doc']),
      });
    }
    return type;
  }
}

/** A name with dots is full; else its namespace is the one stated, or the one around it. */
function nameOf(definition: Json, namespace: string): { name: string; inner: string } {
  const name = textOf(definition['name']);
  if (name === '') throw new Error('a named type without a name');
  const own = typeof definition['namespace'] === 'string' ? definition['namespace'] : namespace;
  const full = fullName(name, own);
  return { name: full, inner: full.slice(0, Math.max(0, full.lastIndexOf('.'))) };
}

const fullName = (name: string, namespace: string) =>
  name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
const list = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(textOf) : []);

/** The logical type with what it states (`decimal(18,6)`), or nothing. */
function logicalOf(definition: Json): string {
  const { logicalType, precision, scale } = definition;
  if (typeof logicalType !== 'string') return '';
  return logicalType === 'decimal' ? `decimal(${Number(precision)},${Number(scale ?? 0)})` : logicalType;
}
