import { load } from '../parley.mjs';

const { toHeaders, typeOf } = load('../dist/src/contracts/index.js');

export const PARTITIONS = 12;
/** Messages of one key. */
const PER_KEY = 5;

/** A document with state, so that later messages of a key wait behind one that fails; tried again soon. */
export const contract = (retry) => ({
  name: 'bench-step',
  version: 1,
  summary: 'A step of an order.',
  direction: 'in',
  topic: 'orders.{partner}.response.v1',
  key: 'orderNumber',
  laterMessages: 'hold',
  retry: { initialMs: 100, maxMs: 2_000, attempts: 12, maxAgeMs: 3_600_000, ...retry },
  jsonSchema: {
    type: 'object',
    required: ['orderNumber', 'step'],
    properties: { orderNumber: { type: 'string' }, step: { type: 'integer' } },
  },
  examples: [{ orderNumber: 'K1', step: 1 }],
});

const TYPE = typeOf(contract());

/** Record `n` of `count`: the messages of a key are far apart, those of all keys take turns. */
export function makeRecord(partner, n, keys) {
  const k = n % keys;
  const key = `K${k}`;
  return {
    topic: `orders.${partner}.response.v1`,
    partition: k % PARTITIONS,
    offset: BigInt(n),
    timestamp: Date.now(),
    key: Buffer.from(key),
    value: Buffer.from(JSON.stringify({ orderNumber: key, step: n })),
    headers: toHeaders({
      id: `${partner}-${n}`,
      source: `/partners/${partner}`,
      type: TYPE,
      time: '2026-11-29T12:00:00.000Z',
      subject: key,
      contentType: 'application/json',
      correlationId: key,
    }),
  };
}

/** `count` records, by partition. */
export function makeRecords(partner, count, keys = Math.ceil(count / PER_KEY)) {
  const partitions = Array.from({ length: PARTITIONS }, () => []);
  for (let n = 0; n < count; n++) {
    const record = makeRecord(partner, n, keys);
    partitions[record.partition].push(record);
  }
  return partitions;
}

/** What a consumer sees of a broker: a batch of one partition that nobody takes away. */
export function batchOf(records, onDone = () => undefined) {
  const [{ topic, partition }] = records;
  return {
    topic,
    partition,
    records,
    highWatermark: 0n,
    isStale: () => false,
    heartbeat: () => Promise.resolve(),
    done: (offset) => Promise.resolve(onDone(offset)),
    pause: (_, reason) => {
      throw new Error(`the processor paused: ${reason}`);
    },
  };
}

/** Spreads a share of all numbers evenly, the same ones in every run. */
export const isIn = (n, share) => ((Math.imul(n + 1, 0x9e3779b1) >>> 8) % 100_000) / 100_000 < share;
