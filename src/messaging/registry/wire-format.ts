import type { RawHeaders } from '../../contracts';
import { ByteCursor, unzigzag } from './byte-cursor';
import { Malformed } from './malformed';

/** Confluent's wire format: magic byte, schema id, for Protobuf the place of the message in its file, then the body. */
export interface Frame {
  /** Global id of the writer's schema, or its UUID. */
  schema: number | string;
  /** Protobuf: place of the message in its file, outermost first. */
  indexes: readonly number[];
  /** Where the body begins in the value. */
  bodyAt: number;
}

const MAGIC_ID = 0;
const MAGIC_GUID = 1;
/** A message in a message in a message …; Protobuf itself stops far earlier. */
const MAX_INDEXES = 32;
const FIRST_MESSAGE: readonly number[] = [0];
const NONE: readonly number[] = [];

/**
 * Confluent's clients can put the same bytes into this header (they write the GUID form there, and read both); the value is
 * then the body alone.
 */
const SCHEMA_ID_HEADER = '__value_schema_id';

/** Throws {@link Malformed} for what is not in this format. */
export function readFrame(value: Buffer, headers: RawHeaders, withIndexes: boolean): Frame {
  const header = headers[SCHEMA_ID_HEADER];
  if (header === undefined) {
    return frameIn(value, withIndexes);
  }
  const last: Buffer | string | undefined = Array.isArray(header)
    ? (header as readonly (Buffer | string)[]).at(-1)
    : (header as Buffer | string);
  const bytes = Buffer.isBuffer(last) ? last : Buffer.from(last ?? '', 'latin1');
  const frame = frameIn(bytes, withIndexes);
  if (frame.bodyAt !== bytes.length) throw new Malformed(`the header ${SCHEMA_ID_HEADER} is too long`);
  return { ...frame, bodyAt: 0 };
}

function frameIn(bytes: Buffer, withIndexes: boolean): Frame {
  const magic = bytes[0];
  let schema: number | string;
  let bodyAt: number;
  if (magic === MAGIC_ID && bytes.length >= 5) {
    schema = bytes.readUInt32BE(1);
    bodyAt = 5;
  } else if (magic === MAGIC_GUID && bytes.length >= 17) {
    schema = bytes.toString('hex', 1, 17).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    bodyAt = 17;
  } else {
    throw new Malformed(notFramed(bytes));
  }
  if (!withIndexes) return { schema, indexes: NONE, bodyAt };
  if (bytes[bodyAt] === 0) return { schema, indexes: FIRST_MESSAGE, bodyAt: bodyAt + 1 };
  const cursor = new ByteCursor(bytes, bodyAt);
  return { schema, indexes: readIndexes(cursor), bodyAt: cursor.pos };
}

function readIndexes(cursor: ByteCursor): number[] {
  const count = unzigzag(cursor.varint());
  if (count < 0 || count > MAX_INDEXES) throw new Malformed(`a message's place has 1 to ${MAX_INDEXES} numbers`);
  const indexes: number[] = [];
  for (let i = 0; i < count; i++) {
    const index = unzigzag(cursor.varint());
    if (index < 0 || index > 0x7fffffff) throw new Malformed("a number of the message's place is out of range");
    indexes.push(index);
  }
  return indexes.length === 0 ? [0] : indexes;
}

function notFramed(bytes: Buffer): string {
  const first = bytes[0];
  if (first === undefined) return 'it is empty';
  if (first === MAGIC_ID || first === MAGIC_GUID) return `${bytes.length} bytes are too few for a schema id`;
  const hex = `0x${first.toString(16).padStart(2, '0')}`;
  const seemsJson = first === 0x7b ? '; it may be plain JSON, which this channel does not speak' : '';
  return `its first byte is ${hex}, where 0x00 and a schema id are expected (Confluent's wire format)${seemsJson}`;
}

/** The first bytes of what we write; `withIndexes`: our documents are the first message of their file. */
export function frameOf(schemaId: number, withIndexes: boolean): Buffer {
  const frame = Buffer.alloc(withIndexes ? 6 : 5);
  frame.writeUInt32BE(schemaId, 1);
  return frame;
}

/** Puts a frame at the beginning of `bytes`; one by one, since a call for five bytes takes longer than they do. */
export function putFrame(frame: Buffer, bytes: Buffer): void {
  for (let i = 0; i < frame.length; i++) bytes[i] = frame[i] as number;
}
