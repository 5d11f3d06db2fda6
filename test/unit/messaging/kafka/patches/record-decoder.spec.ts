import { createRequire } from 'node:module';
import { zstdCompressSync } from 'node:zlib';
import '../../../../../src/messaging/kafka/kafkajs';
import { REFUSED_BATCH } from '../../../../../src/messaging/kafka/patches/fetch-decoder';

type Headers = Record<string, Buffer | null | (Buffer | null)[]>;

const load = createRequire(__filename);
const Decoder = load('kafkajs/src/protocol/decoder') as new (buffer: Buffer) => object;
const decode = load('kafkajs/src/protocol/requests/fetch/v4/decodeMessages') as (
  decoder: object,
) => Promise<{ headers: Headers; value: Buffer | null }[]>;
const { RecordBatch } = load('kafkajs/src/protocol/recordBatch/v0') as {
  RecordBatch(fields: object): Promise<{ buffer: Buffer }>;
};
const Encoder = load('kafkajs/src/protocol/encoder') as { prototype: object };

const varInt = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value << 1;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
};
const text = (value: string): Buffer => Buffer.concat([varInt(Buffer.byteLength(value)), Buffer.from(value)]);
const NULL = Buffer.from([1]);

/** A record by hand: kafkajs' own encoder takes a name once. */
function record(headers: readonly (readonly [name: string, value: string | null])[]): object {
  const pairs = headers.map(([name, value]) => Buffer.concat([text(name), value === null ? NULL : text(value)]));
  const body = Buffer.concat([Buffer.from([0, 0, 0]), text('k'), text('v'), varInt(headers.length), ...pairs]);
  const buffer = Buffer.concat([varInt(body.length), body]);
  return Object.assign(Object.create(Encoder.prototype) as object, { buf: buffer, offset: buffer.length });
}

async function decoded(records: readonly object[], isPacked = false) {
  const { buffer } = await RecordBatch({ firstOffset: 0, records, lastOffsetDelta: records.length - 1 });
  let bytes = Buffer.from(buffer);
  if (isPacked) {
    bytes = Buffer.concat([bytes.subarray(0, 61), zstdCompressSync(bytes.subarray(61))]);
    bytes.writeInt32BE(bytes.length - 12, 8);
    bytes.writeInt16BE(4, 21);
  }
  const size = Buffer.alloc(4);
  size.writeInt32BE(bytes.length);
  return decode(new Decoder(Buffer.concat([size, bytes])));
}
const headersOf = async (...headers: Parameters<typeof record>[0]) =>
  Object.entries((await decoded([record(headers)]))[0]?.headers ?? {});

describe('headers of a record', () => {
  it('come as they were sent: in order, without a value, and one name several times', async () => {
    const headers = [
      ['b', '1'],
      ['a', null],
      ['b', '2'],
      ['c', ''],
      ['a', 'x'],
      ['b', null],
    ] as const;
    expect(await headersOf(...headers)).toEqual([
      ['b', [Buffer.from('1'), Buffer.from('2'), null]],
      ['a', [null, Buffer.from('x')]],
      ['c', Buffer.alloc(0)],
    ]);
    expect(await headersOf()).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'called %s are bytes of the wire, and nothing that an object has beside them',
    async (name) => {
      expect(await headersOf([name, 'x'])).toEqual([[name, Buffer.from('x')]]);
      expect(await headersOf([name, 'x'], [name, 'y'])).toEqual([[name, [Buffer.from('x'), Buffer.from('y')]]]);
    },
  );

  it.each<[string, (n: number) => string]>([
    ['of different names', (n) => n.toString(36)],
    ['of one name', () => 'a'],
  ])('without number, %s, cost by their number', async (_, name) => {
    const [message] = await decoded([record(Array.from({ length: 150_000 }, (_header, n) => [name(n), '']))]);
    expect(Object.values(message?.headers ?? {}).flat()).toHaveLength(150_000);
  });

  it('beyond a million in a batch stop it before they are read', async () => {
    const many = record(Array.from({ length: 210_000 }, () => ['', '']));
    const [refused, ...rest] = await decoded([many, many, many, many, many], true);
    expect(rest).toEqual([]);
    expect(String(refused?.headers[REFUSED_BATCH])).toBe('its records hold more than 1000000 headers');
    expect(await decoded([many, many, many, many], true)).toHaveLength(4);
  });
});
