import { loadInternal } from './version';

/** kafkajs' growing buffer; a record is one, filled up to `offset`. */
interface Encoder {
  buf: Buffer;
  offset: number;
  readonly buffer: Buffer;
}

export interface RecordFields {
  offsetDelta?: number;
  timestampDelta?: number;
  key?: Buffer | string | null;
  value?: Buffer | string | null;
  headers?: Record<string, unknown>;
}

type RecordEncoder = (fields: RecordFields) => Encoder;

/** Beyond it the zig-zag form needs more than 31 bits; such deltas go to kafkajs' own encoder. */
const MAX_DELTA = 0x3fffffff;

const isBytes = (value: unknown): value is Buffer | string | null | undefined =>
  value === null || value === undefined || typeof value === 'string' || Buffer.isBuffer(value);

const sizeOf = (value: Buffer | string | null | undefined): number =>
  value === null || value === undefined ? -1 : typeof value === 'string' ? Buffer.byteLength(value) : value.length;

/** Bytes of a zig-zag varint of a number from 0 to MAX_DELTA. */
function varIntSize(value: number): number {
  let rest = value << 1;
  let bytes = 1;
  while (rest >= 0x80) {
    rest >>>= 7;
    bytes++;
  }
  return bytes;
}

const fieldSize = (length: number): number => (length < 0 ? 1 : varIntSize(length) + length);

class Writer {
  at = 0;
  constructor(readonly buffer: Buffer) {}

  varInt(value: number): void {
    let rest = value << 1;
    while (rest >= 0x80) {
      this.buffer[this.at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.buffer[this.at++] = rest;
  }

  /** Length, then bytes; a length of -1 stands for null and is the byte 1 in zig-zag. */
  field(value: Buffer | string | null | undefined, length: number): void {
    if (value === null || value === undefined) {
      this.buffer[this.at++] = 1;
      return;
    }
    this.varInt(length);
    if (typeof value === 'string') this.buffer.write(value, this.at, length, 'utf8');
    else this.buffer.set(value, this.at);
    this.at += length;
  }
}

/** Header names come from a small set; their bytes are kept. Bounded, in case a caller makes names up. */
const headerNames = new Map<string, Buffer>();

function headerName(name: string): Buffer {
  let bytes = headerNames.get(name);
  if (!bytes) {
    bytes = Buffer.from(name);
    if (headerNames.size < 1000) headerNames.set(name, bytes);
  }
  return bytes;
}

interface HeaderParts {
  names: Buffer[];
  values: (Buffer | string | null)[];
  sizes: number[];
  total: number;
}

/** Undefined where kafkajs' own encoder must decide (it turns numbers into text). A null value it can't encode, though it reads one; here it can be passed on. */
function headerParts(headers: Record<string, unknown>): HeaderParts | undefined {
  const parts: HeaderParts = { names: [], values: [], sizes: [], total: 0 };
  for (const name of Object.keys(headers)) {
    const given = headers[name];
    for (const value of Array.isArray(given) ? (given as unknown[]) : [given]) {
      if (value !== null && typeof value !== 'string' && !Buffer.isBuffer(value)) return undefined;
      const bytes = headerName(name);
      const size = sizeOf(value);
      parts.names.push(bytes);
      parts.values.push(value);
      parts.sizes.push(size);
      parts.total += fieldSize(bytes.length) + fieldSize(size);
    }
  }
  return parts;
}

const isSmall = (delta: number): boolean => Number.isInteger(delta) && delta >= 0 && delta <= MAX_DELTA;

/**
 * One exact allocation per record, where kafkajs takes a zeroed 512-byte buffer for the record and another for each header
 * (a third of the relay's throughput). The bytes are the same; whatever lies outside the usual is left to kafkajs.
 */
export function fastRecordEncoder(original: RecordEncoder, prototype: object): RecordEncoder {
  return (fields) => {
    const { offsetDelta = 0, timestampDelta = 0, key, value, headers = {} } = fields;
    const parts = headerParts(headers);
    if (!parts || !isSmall(offsetDelta) || !isSmall(timestampDelta) || !isBytes(key) || !isBytes(value)) {
      return original(fields);
    }
    const keySize = sizeOf(key);
    const valueSize = sizeOf(value);
    const count = parts.names.length;
    const body =
      1 +
      varIntSize(timestampDelta) +
      varIntSize(offsetDelta) +
      fieldSize(keySize) +
      fieldSize(valueSize) +
      varIntSize(count) +
      parts.total;
    const out = new Writer(Buffer.allocUnsafe(varIntSize(body) + body));
    out.varInt(body);
    out.buffer[out.at++] = 0;
    out.varInt(timestampDelta);
    out.varInt(offsetDelta);
    out.field(key, keySize);
    out.field(value, valueSize);
    out.varInt(count);
    for (let i = 0; i < count; i++) {
      const name = parts.names[i];
      out.field(name, name?.length ?? -1);
      out.field(parts.values[i], parts.sizes[i] ?? -1);
    }
    return Object.assign(Object.create(prototype) as Encoder, { buf: out.buffer, offset: out.at });
  };
}

const RECORD = 'kafkajs/src/protocol/recordBatch/record/v0/index.js';

export const originalRecordEncoder = loadInternal(RECORD) as RecordEncoder;

export const encoderPrototype = (loadInternal('kafkajs/src/protocol/encoder') as { prototype: object }).prototype;

/** Must run before the first `require('kafkajs')`: its request modules keep the function that they find. */
export function patchRecordEncoder(): void {
  const module = loadInternal.cache[loadInternal.resolve(RECORD)];
  if (!module) throw new Error('kafkajs has no record encoder where the patch expects it.');
  module.exports = fastRecordEncoder(originalRecordEncoder, encoderPrototype);
}
