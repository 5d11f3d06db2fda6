import type { AvroType } from './avro-schema';
import { type ByteCursor, unzigzag } from './byte-cursor';
import { Malformed } from './malformed';

/** Steps over one value of a type that we do not read. */
export function skipAvro(cursor: ByteCursor, type: AvroType): void {
  switch (type.kind) {
    case 'null':
      return;
    case 'boolean':
      return cursor.skip(1);
    case 'int':
    case 'long':
    case 'enum':
      return void cursor.varint();
    case 'float':
      return cursor.skip(4);
    case 'double':
      return cursor.skip(8);
    case 'string':
    case 'bytes':
      return cursor.skip(readLong(cursor));
    case 'fixed':
      return cursor.skip(type.size);
    case 'array':
      return skipBlocks(cursor, type.items, false);
    case 'map':
      return skipBlocks(cursor, type.values, true);
    case 'union':
      return skipAvro(cursor, branchOf(cursor, type.branches));
    case 'record':
      cursor.enter();
      for (const field of type.fields) skipAvro(cursor, field.type);
      return cursor.leave();
  }
}

function skipBlocks(cursor: ByteCursor, item: AvroType, keyed: boolean): void {
  cursor.enter();
  for (let count = readLong(cursor); count !== 0; count = readLong(cursor)) {
    if (count < 0) {
      // A block that states its bytes. A negative number of them would lead back, for ever.
      cursor.skip(readLong(cursor));
      continue;
    }
    cursor.claim(count);
    while (count-- > 0) {
      if (keyed) cursor.skip(readLong(cursor));
      skipAvro(cursor, item);
    }
  }
  cursor.leave();
}

/** Number of items in the next block of an array or a map, 0 after the last. */
export function readBlock(cursor: ByteCursor): number {
  let count = readLong(cursor);
  if (count < 0) {
    count = -count;
    cursor.varint();
  }
  cursor.claim(count);
  return count;
}

/** A long as far as it is used for lengths and counts: exact below 2^53. */
export function readLong(cursor: ByteCursor): number {
  return unzigzag(cursor.varint());
}

export function branchOf<T>(cursor: ByteCursor, branches: readonly T[]): T {
  const index = readLong(cursor);
  const branch = branches[index];
  if (branch === undefined) throw new Malformed(`a union has no branch ${index}`);
  return branch;
}
