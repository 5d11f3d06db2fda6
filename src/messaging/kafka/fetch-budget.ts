import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Most bytes that one batch may unpack to: a client unpacks a whole fetch at once, and a small batch that grows without end would
 * take the process down. gzip grows a thousandfold, zstd without bound.
 */
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;
/** Most records of one batch: empty ones take seven bytes there (hardly any when packed), and half a kilobyte here. */
const MAX_RECORDS = 250_000;
const RECORD_BYTES = 512;
/** Most headers of all records of a batch together: one takes two bytes there, and a name, a place and a buffer here. */
const MAX_HEADERS = 1_000_000;
const HEADER_BYTES = 128;

/** What one answer of a broker may cost before only usual batches are unpacked, bytes; the rest comes with the next fetch. */
const PLENTY = 64 * 1024 * 1024;

interface Limits {
  bytes: number;
  records: number;
  headers: number;
}
const MOST: Limits = { bytes: MAX_UNPACKED_BYTES, records: MAX_RECORDS, headers: MAX_HEADERS };
/** Of a batch as honest producers make them, so that the topics behind a greedy one are read all the same. */
const USUAL: Limits = { bytes: 4 * 1024 * 1024, records: 8_192, headers: 131_072 };

/** A batch beyond a limit. */
class TooLarge extends Error {}
/** Not now: this answer has cost enough. The same batch comes first in a later one. */
export class Deferred extends Error {}

const meter = new AsyncLocalStorage<{ limits: Limits; bytes: number; headers: number }>();

/** Most bytes that the batch in hand may unpack to now. */
export const unpackLimit = (): number => meter.getStore()?.limits.bytes ?? MAX_UNPACKED_BYTES;

/** Every codec passes what it unpacked through here. */
export function counted(unpacked: Buffer): Buffer {
  const store = meter.getStore();
  if (store) store.bytes += unpacked.length;
  if (unpacked.length > unpackLimit()) throw tooLarge();
  return unpacked;
}

/** Called before so many headers of one record are read. */
export function countHeaders(more: number): void {
  const store = meter.getStore();
  const [headers, limit] = [(store?.headers ?? 0) + more, store?.limits.headers ?? MAX_HEADERS];
  if (store) store.headers = headers;
  if (headers > limit) throw new TooLarge(`its records hold more than ${limit} headers`);
}

export const tooLarge = (): TooLarge => new TooLarge(`it unpacks to a size larger than ${unpackLimit()} bytes`);

/** What one answer of a broker, with all its partitions, has cost until now. */
export class FetchBudget {
  private spent = 0;

  /** No more than the first batch of each partition is unpacked from here on. */
  get isSpent(): boolean {
    return this.spent >= PLENTY;
  }

  /** Rejects with {@link Deferred} for a large batch when the budget is spent. */
  async spend<T>(records: number, decode: () => Promise<T>): Promise<T> {
    const limits = this.isSpent ? USUAL : MOST;
    try {
      if (records > limits.records) throw new TooLarge(`it holds ${records} records, more than ${limits.records}`);
      const store = { limits, bytes: 0, headers: 0 };
      const decoded = await meter.run(store, decode);
      this.spent += store.bytes + records * RECORD_BYTES + store.headers * HEADER_BYTES;
      return decoded;
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      if (limits === USUAL) throw new Deferred('', { cause: error });
      // One bomb costs as much as it could: a swarm of them, one in each partition, would hold the process for long.
      this.spent += PLENTY;
      throw error;
    }
  }
}

/** Is it beyond what this program will ever unpack? */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof TooLarge || (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
