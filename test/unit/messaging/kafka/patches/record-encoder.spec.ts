import { createRequire } from 'node:module';
import fc from 'fast-check';
import '../../../../../src/messaging/kafka/kafkajs';
import {
  encoderPrototype,
  fastRecordEncoder,
  originalRecordEncoder,
  type RecordFields,
} from '../../../../../src/messaging/kafka/patches/record-encoder';

const fast = fastRecordEncoder(() => {
  throw new Error('left to kafkajs');
}, encoderPrototype);

const bytes = fc.uint8Array({ maxLength: 300 }).map((data) => Buffer.from(data));
const text = fc.string({ unit: 'binary', maxLength: 200 });
const field = fc.option(fc.oneof(bytes, text), { nil: null });
const header = fc.oneof(bytes, text, fc.array(fc.oneof(bytes, text), { maxLength: 3 }));
const record = fc.record({
  offsetDelta: fc.nat(100_000),
  timestampDelta: fc.nat(0x3fffffff),
  key: field,
  value: field,
  headers: fc.dictionary(text, header, { maxKeys: 12 }),
});

it('encodes random records byte for byte as kafkajs does', () => {
  fc.assert(
    fc.property(record, (fields) => {
      expect(fast(fields).buffer.equals(originalRecordEncoder(fields).buffer)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

it.each<[string, RecordFields]>([
  ['no fields at all', {}],
  [
    'lengths at the edges of a varint',
    { key: 'k'.repeat(63), value: Buffer.alloc(64), headers: { ['h'.repeat(8192)]: 'v'.repeat(8191) } },
  ],
  ['a value of a megabyte', { value: Buffer.alloc(1 << 20, 7) }],
  ['the largest delta', { timestampDelta: 0x3fffffff, offsetDelta: 0x3fffffff }],
])('encodes %s as kafkajs does', (_name, fields) => {
  expect(fast(fields).buffer.equals(originalRecordEncoder(fields).buffer)).toBe(true);
});

it.each<[string, RecordFields]>([
  ['a delta beyond 30 bits', { timestampDelta: 0x40000000 }],
  ['a negative delta', { timestampDelta: -1 }],
  ['a header that is a number', { headers: { n: 5 } }],
])('leaves %s to kafkajs', (_name, fields) => {
  expect(() => fast(fields)).toThrow('left to kafkajs');
});

it('writes a header without a value, which kafkajs reads and cannot write', () => {
  const { buffer } = fast({ key: 'k', value: 'v', headers: { gone: null, both: ['', null] } });
  const load = createRequire(__filename);
  const Decoder = load('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => { readVarInt(): number };
  const decode = load('kafkajs/src/protocol/recordBatch/record/v0/decoder') as (
    decoder: object,
    batch: object,
  ) => object;
  const decoder = new Decoder(buffer);
  expect(decoder.readVarInt()).toBe(buffer.length - 1);
  expect(decode(decoder, { firstOffset: '0', firstTimestamp: '0' })).toMatchObject({
    key: Buffer.from('k'),
    headers: { gone: null, both: [Buffer.alloc(0), null] },
  });
  expect(() => originalRecordEncoder({ headers: { gone: null } })).toThrow('Received null');
});

it('stands in for the encoder that the client loads', () => {
  const loaded = createRequire(__filename)(
    'kafkajs/src/protocol/recordBatch/record/v0',
  ) as typeof originalRecordEncoder;
  expect(loaded).not.toBe(originalRecordEncoder);
  const { buf } = loaded({ key: 'k', value: 'v' }) as unknown as { buf: Buffer };
  // One exact allocation; kafkajs' own takes 512 bytes for so small a record.
  expect(buf.length).toBe(9);
});
