import { countHeaders } from '../fetch-budget';
import { loadInternal } from './version';

type Bytes = Buffer | null;
type Headers = Record<string, Bytes | Bytes[]>;

/** kafkajs' reader of one record's bytes, which no other record shares. */
interface Decoder {
  readVarInt(): number;
  readVarIntArray(read: (decoder: Decoder) => unknown): unknown[];
}
interface HeaderPair {
  key: string;
  value: Bytes;
}
type RecordDecoder = (decoder: Decoder, context: object) => { headers: Headers };

/**
 * kafkajs copies all headers that it has for each one that it reads: 8,000 of them, a record of 40 kB, hold the process for half a
 * minute, and no watchdog knows whose record it was. It also looks names up on a plain object, where `constructor` and
 * `__proto__` find what is not of the record. Here headers cost by their number, and only bytes of the wire are among them.
 */
function linearRecordDecoder(original: RecordDecoder): RecordDecoder {
  return (decoder, context) => {
    let headers: Headers = {};
    decoder.readVarIntArray = (read) => {
      headers = readHeaders(decoder, read as (from: Decoder) => HeaderPair);
      return [];
    };
    const record = original(decoder, context);
    record.headers = headers;
    return record;
  };
}

function readHeaders(decoder: Decoder, read: (decoder: Decoder) => HeaderPair): Headers {
  const count = decoder.readVarInt();
  countHeaders(count);
  const headers = Object.create(null) as Headers;
  for (let n = 0; n < count; n++) {
    const { key, value } = read(decoder);
    const known = headers[key];
    if (known === undefined) headers[key] = value;
    else if (Array.isArray(known)) known.push(value);
    else headers[key] = [known, value];
  }
  return headers;
}

const RECORD_DECODER = 'kafkajs/src/protocol/recordBatch/record/v0/decoder.js';

/** Must run before what decodes batches is loaded, which keeps the function that it finds. */
export function patchRecordDecoder(): void {
  const original = loadInternal(RECORD_DECODER) as RecordDecoder;
  const module = loadInternal.cache[loadInternal.resolve(RECORD_DECODER)];
  if (!module) throw new Error('kafkajs has no record decoder where the patch expects it.');
  module.exports = linearRecordDecoder(original);
}
