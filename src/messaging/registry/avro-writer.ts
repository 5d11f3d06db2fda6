import { Type, types, type Schema } from 'avsc';
import { putFrame } from './wire-format';

/** `long` as decimal text in 64 bits; avsc's own is a number, and wrong beyond 2^53. */
const longText = types.LongType.__with({
  toBuffer: (text: string) => {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigInt64LE(BigInt(text));
    return bytes;
  },
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE().toString(),
  toJSON: Number,
  fromJSON: String,
  isValid: (value: unknown) => typeof value === 'string' && /^-?\d{1,19}$/.test(value),
  compare: (a: string, b: string) => Number(BigInt(a) - BigInt(b)),
});

/** What writes a value after a frame. For our own schemas only: avsc runs code made from a schema. */
export function avroWriter(schemaText: string): (frame: Buffer, value: unknown) => Buffer {
  const type = Type.forSchema(JSON.parse(schemaText) as Schema, { registry: { long: longText } });
  // One for all writes, which are synchronous; grown when a document needs more.
  let scratch = Buffer.allocUnsafeSlow(4096);
  return (frame, value) => {
    putFrame(frame, scratch);
    let end = type.encode(value, scratch, frame.length);
    if (end < 0) {
      scratch = Buffer.allocUnsafeSlow(2 * (scratch.length - end));
      putFrame(frame, scratch);
      end = type.encode(value, scratch, frame.length);
    }
    return Buffer.from(scratch.subarray(0, end));
  };
}
