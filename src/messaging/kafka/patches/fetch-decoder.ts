import { messageOf } from '../../../platform/errors';
import { Deferred, FetchBudget, isTooLarge } from '../fetch-budget';
import { loadInternal } from './version';

interface Decoder {
  offset: number;
  buffer: Buffer;
  readInt32(): number;
  readBytes(length: number): Buffer;
  canReadBytes(length: number): boolean;
}

interface FetchedMessage {
  offset: string;
}

type RecordBatchDecoder = (decoder: Decoder) => Promise<{ records: FetchedMessage[] }>;
type MessagesDecoder = (decoder: Decoder) => Promise<FetchedMessage[]>;

/** Where things stand in a record batch, format 2 (Kafka protocol guide, "Record Batch"). */
const MAGIC_AT = 16;
const LENGTH_AT = 8;
const ATTRIBUTES_AT = 21;
const LAST_OFFSET_DELTA_AT = 23;
const MAX_TIMESTAMP_AT = 35;
const PRODUCER_ID_AT = 43;
const RECORD_COUNT_AT = 57;
const BATCH_HEADER_BYTES = 61;
const MAGIC = 2;
const IN_TRANSACTION = 1 << 4;

const UNREADABLE = Symbol('unreadable');

/** Why this stands in a record's place: the batch at its offset can't be decoded here and now. Undefined for a record. */
export const unreadableCause = (message: object): Error | undefined =>
  (message as { [UNREADABLE]?: Error })[UNREADABLE];

/**
 * The header of a record that is a whole batch, packed as it came: why it is not unpacked. What it holds is lost to nobody who has its
 * bytes, and no partition waits for it.
 */
export const REFUSED_BATCH = 'parley-refused-batch';

/**
 * Stands in the batch's place. Its offset is the batch's last: a fetch may ask for an offset in the middle, and kafkajs drops, as read, what
 * lies before it. @param batch its bytes, to its end or beyond
 */
function standIn(batch: Buffer, cause: Error): FetchedMessage {
  const refused = isTooLarge(cause);
  return {
    offset: String(batch.readBigInt64BE(0) + BigInt(batch.readInt32BE(LAST_OFFSET_DELTA_AT))),
    ...(refused ? {} : { [UNREADABLE]: cause }),
    timestamp: String(batch.readBigInt64BE(MAX_TIMESTAMP_AT)),
    key: null,
    // A copy: it may be kept for longer than the answer that it came in.
    value: refused ? Buffer.from(batch.subarray(0, lengthOf(batch))) : null,
    headers: refused ? { [REFUSED_BATCH]: Buffer.from(messageOf(cause)) } : {},
    isControlRecord: false,
    // kafkajs leaves out what a transaction took back.
    batchContext: {
      producerId: String(batch.readBigInt64BE(PRODUCER_ID_AT)),
      inTransaction: (batch.readInt16BE(ATTRIBUTES_AT) & IN_TRANSACTION) !== 0,
    },
  } as FetchedMessage;
}

const lengthOf = (batch: Buffer): number => LENGTH_AT + 4 + batch.readInt32BE(LENGTH_AT);

/** By the decoder of the whole answer, which all its partitions share. */
const budgets = new WeakMap<Decoder, FetchBudget>();

function budgetOf(decoder: Decoder): FetchBudget {
  const budget = budgets.get(decoder) ?? new FetchBudget();
  budgets.set(decoder, budget);
  return budget;
}

/**
 * One batch with an unknown codec, or one that unpacks beyond its limit, makes kafkajs reject the whole fetch: with every
 * other topic of that broker, for ever, or the client dies of it. Here what comes before the batch is handed out, then what stands in its
 * place, and nothing behind it until that is dealt with: one record with the packed bytes where it is too large for anybody, ever; else a
 * mark that stops the partition alone, since a codec that is missing is ours to mend. Many batches that each keep within the limit would
 * fill the memory all the same: what an answer may cost is bounded, and what is beyond comes with a later fetch.
 */
function containedMessagesDecoder(original: MessagesDecoder, decodeBatch: RecordBatchDecoder): MessagesDecoder {
  return async (decoder) => {
    const size = decoder.buffer.readInt32BE(decoder.offset);
    const start = decoder.offset + 4;
    const end = start + size;
    if (size < BATCH_HEADER_BYTES || end > decoder.buffer.length) return original(decoder);
    const bytes = decoder.buffer.subarray(start, end);
    if (bytes.readInt8(MAGIC_AT) !== MAGIC) return original(decoder);
    decoder.readBytes(decoder.readInt32());
    return decodeBatches(bytes, decodeBatch, budgetOf(decoder));
  };
}

async function decodeBatches(
  bytes: Buffer,
  decodeBatch: RecordBatchDecoder,
  budget: FetchBudget,
): Promise<FetchedMessage[]> {
  const batches = new DecoderClass(bytes);
  const messages: FetchedMessage[] = [];
  while (batches.canReadBytes(BATCH_HEADER_BYTES)) {
    const start = batches.offset;
    if (messages.length > 0 && budget.isSpent) break;
    try {
      const count = bytes.readInt32BE(start + RECORD_COUNT_AT);
      const { records } = await budget.spend(count, () => decodeBatch(batches));
      // Not push(...records): that many arguments overflow the stack.
      for (const record of records) messages.push(record);
    } catch (error) {
      // The broker cuts the last batch where the size limit falls; the next fetch brings it whole.
      const isPartial = bytes.length - start < lengthOf(bytes.subarray(start));
      if (isPartial || error instanceof Deferred || messages.length > 0) break;
      return [standIn(bytes.subarray(start), error as Error)];
    }
  }
  return messages;
}

const DecoderClass = loadInternal('kafkajs/src/protocol/decoder') as new (buffer: Buffer) => Decoder;
const MESSAGES = 'kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js';

/** Must run before the first fetch: the response modules keep the function that they find when they load. */
export function patchFetchDecoder(): void {
  const original = loadInternal(MESSAGES) as MessagesDecoder;
  const decodeBatch = loadInternal('kafkajs/src/protocol/recordBatch/v0/decoder') as RecordBatchDecoder;
  const module = loadInternal.cache[loadInternal.resolve(MESSAGES)];
  if (!module) throw new Error('kafkajs has no fetch decoder where the patch expects it.');
  module.exports = containedMessagesDecoder(original, decodeBatch);
}
