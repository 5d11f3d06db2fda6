import { createRequire } from 'node:module';
import { zstdCompressSync } from 'node:zlib';
import '../../../../../src/messaging/kafka/kafkajs';
import { REFUSED_BATCH, unreadableCause } from '../../../../../src/messaging/kafka/patches/fetch-decoder';

const load = createRequire(__filename);
const Decoder = load('kafkajs/src/protocol/decoder') as new (buffer: Buffer) => { offset: number };
const decode = load('kafkajs/src/protocol/requests/fetch/v4/decodeMessages') as (
  decoder: object,
) => Promise<{ offset: string; value: Buffer | null; headers: Record<string, Buffer> }[]>;
const { RecordBatch } = load('kafkajs/src/protocol/recordBatch/v0') as {
  RecordBatch(fields: object): Promise<{ buffer: Buffer }>;
};
const record = load('kafkajs/src/protocol/recordBatch/record/v0') as (fields: object) => object;

async function batch(firstOffset: number, count: number, codec?: number): Promise<Buffer> {
  const records = Array.from({ length: count }, (_, offsetDelta) =>
    record({ offsetDelta, value: `${firstOffset + offsetDelta}` }),
  );
  const { buffer } = await RecordBatch({ firstOffset, records, lastOffsetDelta: count - 1 });
  const bytes = Buffer.from(buffer);
  if (codec !== undefined) bytes.writeInt16BE(codec, 21);
  return bytes;
}

function answer(...parts: Buffer[]) {
  const messages = Buffer.concat(parts);
  const size = Buffer.alloc(4);
  size.writeInt32BE(messages.length);
  // What follows stands for the next partition of the answer, which must still be found.
  return new Decoder(Buffer.concat([size, messages, Buffer.from('next')]));
}

/** gzip, over bytes that are none. */
const BROKEN = 1;

it('decodes readable batches, also an enormous one, and stops exactly behind them', async () => {
  const decoder = answer(await batch(10, 3), await batch(13, 200_000));
  const messages = await decode(decoder);
  expect(messages).toHaveLength(200_003);
  expect(messages[0]).toMatchObject({ offset: '10', value: Buffer.from('10') });
  expect(messages.at(-1)?.offset).toBe('200012');
  expect(messages.some((message) => unreadableCause(message))).toBe(false);
});

it('hands out what lies before a batch that is not readable, and nothing behind it', async () => {
  const decoder = answer(await batch(10, 3), await batch(13, 5, BROKEN), await batch(18, 2));
  const size = (await batch(10, 3)).length + (await batch(13, 5)).length + (await batch(18, 2)).length;
  expect((await decode(decoder)).map(({ offset }) => offset)).toEqual(['10', '11', '12']);
  expect(decoder.offset).toBe(4 + size);
});

it('puts a mark at the last offset of an unreadable batch that comes first', async () => {
  const [mark, ...rest] = await decode(answer(await batch(13, 5, BROKEN), await batch(18, 2)));
  expect(rest).toEqual([]);
  expect(mark).toMatchObject({ offset: '17', value: null });
  expect(mark && unreadableCause(mark)?.message).toBe('incorrect header check');
});

it('puts a mark in the place of a whole batch whose records are cut off', async () => {
  const bytes = await batch(13, 2);
  // One record more than there is.
  bytes.writeInt32BE(3, 57);
  const [mark] = await decode(answer(bytes));
  expect(mark && unreadableCause(mark)).toBeDefined();
});

it('takes a batch that the broker cut off for the next fetch', async () => {
  const cut = (await batch(13, 5)).subarray(0, 70);
  expect((await decode(answer(await batch(10, 3), cut))).map(({ offset }) => offset)).toEqual(['10', '11', '12']);
  expect(await decode(answer(cut))).toEqual([]);
  expect(await decode(answer())).toEqual([]);
});

describe('what one answer may cost', () => {
  const zstd = (batchBytes: Buffer): Buffer => {
    const packed = zstdCompressSync(batchBytes.subarray(61));
    const bytes = Buffer.concat([batchBytes.subarray(0, 61), packed]);
    bytes.writeInt32BE(bytes.length - 12, 8);
    bytes.writeInt16BE(4, 21);
    return bytes;
  };
  async function packed(firstOffset: number, bytes: number): Promise<Buffer> {
    const { buffer } = await RecordBatch({ firstOffset, records: [record({ value: Buffer.alloc(bytes) })] });
    return zstd(Buffer.from(buffer));
  }
  const offsets = (messages: { offset: string }[]) => messages.map(({ offset }) => offset);
  /** Several partitions of one answer, decoded one after the other as kafkajs does. */
  async function partitions(...contents: Buffer[][]): Promise<string[][]> {
    const sized = contents.map((batches) => {
      const messages = Buffer.concat(batches);
      const size = Buffer.alloc(4);
      size.writeInt32BE(messages.length);
      return Buffer.concat([size, messages]);
    });
    const decoder = new Decoder(Buffer.concat(sized));
    const found: string[][] = [];
    for (const _ of contents) found.push(offsets(await decode(decoder)));
    return found;
  }
  const MB = 1024 * 1024;

  it('is bounded within a partition: what is beyond comes with the next fetch', async () => {
    const large = [await packed(0, 40 * MB), await packed(1, 40 * MB), await packed(2, 40 * MB), await packed(3, 1)];
    expect(await partitions(large)).toEqual([['0', '1']]);
    expect(await partitions(large.slice(2))).toEqual([['2', '3']]);
  });

  it('is bounded over all partitions, of which those with usual batches are read all the same', async () => {
    const large = [await packed(0, 70 * MB)];
    const usual = [await packed(5, 1000), await packed(6, 1000)];
    expect(await partitions(large, large, usual, large)).toEqual([['0'], [], ['5'], []]);
  });

  it('counts records, too: half a kilobyte each, though they are nothing on the wire', async () => {
    const [refused] = await decode(answer(zstd(await batch(0, 250_001))));
    expect(String(refused?.headers[REFUSED_BATCH])).toBe('it holds 250001 records, more than 250000');
    expect((await partitions([zstd(await batch(0, 140_000)), await batch(140_000, 1)]))[0]).toHaveLength(140_000);
  });

  it('hands on as it is, packed, what is too large under any circumstances; what is behind it comes with the next fetch', async () => {
    const bomb = await packed(7, 129 * MB);
    const [refused, ...more] = await decode(answer(bomb, await batch(8, 1)));
    expect(more).toEqual([]);
    expect(refused).toMatchObject({ offset: '7', isControlRecord: false });
    expect(refused?.value?.equals(bomb)).toBe(true);
    expect(refused && unreadableCause(refused)).toBeUndefined();
    expect(String(refused?.headers[REFUSED_BATCH])).toMatch(/larger than/);
  });

  it('is spent with one bomb: the others wait for the next fetch, and usual batches do not wait', async () => {
    const bomb = [await packed(7, 129 * MB)];
    const usual = [await packed(5, 1000)];
    expect(await partitions(bomb, bomb, usual, bomb)).toEqual([['7'], [], ['5'], []]);
  });

  it('waits for the rest of a batch that was cut off, also where its beginning says that it is too large', async () => {
    const cut = zstd(await batch(0, 250_001)).subarray(0, 100);
    expect(await decode(answer(cut))).toEqual([]);
  });
});
