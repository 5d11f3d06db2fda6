import { type AvroField, type AvroRecord, type AvroType, short, unqualified } from './avro-schema';
import { branchOf, readBlock, readLong, skipAvro } from './avro-skip';
import { type ByteCursor, unzigzag } from './byte-cursor';
import { generated, objectText } from './generated';
import { Malformed, SchemaMismatch } from './malformed';

/** Reads one value; `undefined` stands for null, which in a contract means: not there. */
export type Read = (cursor: ByteCursor) => unknown;

/**
 * How to read what a writer of one schema wrote as ours (Avro 1.12, "Schema Resolution"). Throws {@link SchemaMismatch}
 * where no value of the writer's could be read; a union that is only partly readable fails with the record that needs it.
 *
 * Own code and not avsc's resolver: that one runs code made from the writer's schema, fills in its defaults (a page of
 * schema can ask for 2^30 of them), believes the counts in the bytes and rounds 64-bit numbers.
 */
export function resolveAvro(writer: AvroType, reader: AvroType): Read {
  return resolve(writer, reader, new Map());
}

/**
 * What was found of a record of the writer's, by record of ours: a schema can name one of thousands of fields in each of
 * hundreds of branches.
 */
type Resolved = Map<AvroRecord, Map<AvroRecord, Read | SchemaMismatch>>;

function resolve(writer: AvroType, reader: AvroType, resolved: Resolved): Read {
  if (writer.kind === 'union') return resolveBranches(writer.branches, reader, resolved);
  if (reader.kind === 'union') return resolveAsFirst(writer, reader.branches, resolved);
  const read = SCALARS[`${writer.kind}>${reader.kind}`];
  if (read && !(writer.kind === 'bytes' && writer.logical)) return read;
  if (writer.kind === 'array' && reader.kind === 'array')
    return readArray(resolve(writer.items, reader.items, resolved));
  if (writer.kind === 'record' && reader.kind === 'record' && sameName(writer, reader)) {
    return recordOnce(writer, reader, resolved);
  }
  throw new SchemaMismatch(`${described(writer)} can't be read as ${described(reader)}`);
}

function recordOnce(writer: AvroRecord, reader: AvroRecord, resolved: Resolved): Read {
  const known = resolved.get(writer) ?? new Map<AvroRecord, Read | SchemaMismatch>();
  resolved.set(writer, known);
  const read = known.get(reader) ?? attempt(() => readRecord(writer, reader, resolved));
  known.set(reader, read);
  if (read instanceof SchemaMismatch) throw read;
  return read;
}

function resolveBranches(branches: readonly AvroType[], reader: AvroType, resolved: Resolved): Read {
  const reads = branches.map((branch) => attempt(() => resolve(branch, reader, resolved)));
  const [failed] = reads.filter((read) => read instanceof SchemaMismatch);
  if (failed && reads.every((read) => read instanceof SchemaMismatch)) throw failed;
  return (cursor) => {
    const read = branchOf(cursor, reads);
    if (read instanceof SchemaMismatch) throw read;
    return read(cursor);
  };
}

function resolveAsFirst(writer: AvroType, branches: readonly AvroType[], resolved: Resolved): Read {
  let failed: SchemaMismatch | undefined;
  for (const branch of branches) {
    const read = attempt(() => resolve(writer, branch, resolved));
    if (!(read instanceof SchemaMismatch)) return read;
    // What was expected besides null says more.
    if (branch.kind !== 'null') failed = read;
  }
  throw failed ?? new SchemaMismatch('our union is empty');
}

function attempt(work: () => Read): Read | SchemaMismatch {
  try {
    return work();
  } catch (error) {
    if (error instanceof SchemaMismatch) return error;
    throw error;
  }
}

const readText: Read = (cursor) => cursor.text(readLong(cursor));
const readInt: Read = (cursor) => {
  const value = readLong(cursor);
  if (value !== (value | 0)) throw new Malformed('an int has more than 32 bits');
  return value;
};
const readLongText: Read = (cursor) => {
  const at = cursor.pos;
  const raw = cursor.varint();
  if (Number.isSafeInteger(raw)) return String(unzigzag(raw));
  cursor.pos = at;
  const exact = cursor.varint64();
  return String(exact & 1n ? -(exact >> 1n) - 1n : exact >> 1n);
};
const readBoolean: Read = (cursor) => {
  const at = cursor.pos;
  cursor.skip(1);
  const byte = cursor.bytes[at];
  if (byte !== 0 && byte !== 1) throw new Malformed('a boolean is neither 0 nor 1');
  return byte === 1;
};

/** By writer's and reader's kind, with the promotions of the specification. A long is decimal text in a contract. */
const SCALARS: Readonly<Record<string, Read>> = {
  'null>null': () => undefined,
  'boolean>boolean': readBoolean,
  'int>int': readInt,
  'int>long': (cursor) => String(readInt(cursor)),
  'long>long': readLongText,
  'string>string': readText,
  'bytes>string': readText,
};

function readArray(read: Read): Read {
  return (cursor) => {
    const items: unknown[] = [];
    for (let count = readBlock(cursor); count > 0; count = readBlock(cursor)) {
      while (count-- > 0) items.push(read(cursor));
    }
    return items;
  };
}

function readRecord(writer: AvroRecord, reader: AvroRecord, resolved: Resolved): Read {
  const reads: Read[] = writer.fields.map(
    ({ type }) =>
      (cursor) =>
        skipAvro(cursor, type),
  );
  const always: [variable: string, member: string][] = [];
  const maybe: [variable: string, member: string][] = [];
  const defaults: unknown[] = [];
  const claimed = new Set<number>();
  for (const ours of reader.fields) {
    const at = indexFor(ours, writer);
    if (at >= 0) {
      if (claimed.has(at)) throw new SchemaMismatch(`two members of ours have the name or alias of ${ours.name}`);
      claimed.add(at);
      reads[at] = within(ours.name, () => resolve((writer.fields[at] as AvroField).type, ours.type, resolved));
      (isOptional(ours.type) ? maybe : always).push([`v${at}`, ours.name]);
    } else if (ours.default === undefined) throw new SchemaMismatch(`the writer has no ${ours.name}`);
    else if (ours.default !== null) always.push([`defaults[${defaults.push(defaultValue(ours)) - 1}]`, ours.name]);
  }
  // In the writer's order; each by its own name, so that the engine can see through the call.
  const lines = reads.map((_, i) => `const v${i} = r${i}(cursor);`);
  const parameters = Object.fromEntries(reads.map((read, i) => [`r${i}`, read]));
  return generated<Read>(
    { ...parameters, defaults },
    `(cursor) => {\n${lines.join('\n')}\n${objectText(always, maybe)}\n}`,
  );
}

const isOptional = (type: AvroType) => type.kind === 'union' && type.branches.some(({ kind }) => kind === 'null');

function within(member: string, work: () => Read): Read {
  const read = attempt(work);
  if (read instanceof SchemaMismatch) throw new SchemaMismatch(`${member}: ${read.message}`);
  return read;
}

/** Place of the writer's field under our name, else under one of our aliases. */
function indexFor(ours: AvroField, writer: AvroRecord): number {
  for (const name of [ours.name, ...ours.aliases]) {
    const at = writer.fields.findIndex((field) => field.name === name);
    if (at >= 0) return at;
  }
  return -1;
}

/** The specification compares unqualified names; our aliases are for renamed ones. */
const sameName = (writer: AvroRecord, reader: AvroRecord) =>
  unqualified(writer.name) === unqualified(reader.name) || reader.aliases.includes(writer.name);

/** Of our own schema, whose defaults are scalars (its contract has no other way to be missing). */
function defaultValue({ name, type, default: value }: AvroField): unknown {
  const kind = type.kind === 'union' ? type.branches[0]?.kind : type.kind;
  if (kind === 'long' && typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'object') throw new SchemaMismatch(`our ${name} has a default that is not a scalar`);
  return value;
}

function described(type: AvroType): string {
  if ('name' in type) return `${type.kind} ${short(type.name)}`;
  if (type.kind === 'bytes' && type.logical) return 'bytes of a logical type';
  return type.kind === 'union' ? `a union` : type.kind;
}
