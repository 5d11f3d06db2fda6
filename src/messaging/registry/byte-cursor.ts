import { isUtf8 } from 'node:buffer';
import { Malformed } from './malformed';
import { shortText } from './short-text';

const TWO_28 = 2 ** 28;
const MAX_64 = (1n << 64n) - 1n;

/**
 * Reads bytes that nobody vouches for. Each read checks that its bytes are there, and throws {@link Malformed} where not;
 * nothing is allocated or repeated because a number in the bytes says so.
 */
export class ByteCursor {
  pos: number;
  readonly end: number;
  /** See {@link claim}. */
  private claimable: number;
  private depth = 0;

  constructor(
    readonly bytes: Buffer,
    from: number,
  ) {
    this.pos = from;
    this.end = bytes.length;
    this.claimable = bytes.length - from;
  }

  /** Unsigned LEB128 of at most 10 bytes; exact below 2^53, above that fit for comparisons only. */
  varint(): number {
    const { bytes } = this;
    let byte = this.byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      if (this.pos >= this.end) throw cut();
      byte = bytes[this.pos++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    for (let scale = TWO_28, more = 6; more > 0; more--, scale *= 128) {
      byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new Malformed('a number has more than 10 bytes');
  }

  /** The lower 32 bits of a varint, as a signed number (Protobuf's int32: a negative one has ten bytes). */
  int32(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Malformed('a number has more than 10 bytes');
  }

  /** A varint of 64 bits, exact. */
  varint64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if (value > MAX_64) break;
      return value;
    }
    throw new Malformed('a number has more than 64 bits');
  }

  /** Text of `length` bytes. Bytes that are not UTF-8 are refused: replaced ones would be another text. */
  text(length: number): string {
    const from = this.pos;
    this.skip(length);
    const short = shortText(this.bytes, from, length);
    if (short !== undefined) return short;
    const text = this.bytes.toString('utf8', from, this.pos);
    if (text.includes('\ufffd') && !isUtf8(this.bytes.subarray(from, this.pos))) {
      throw new Malformed('a text is not UTF-8');
    }
    return text;
  }

  skip(length: number): void {
    if (!(length <= this.end - this.pos) || length < 0) throw cut();
    this.pos += length;
  }

  /**
   * To be called before `count` items are read. All items of a document together are no more than its bytes, whatever
   * their counts say; without that, items of no bytes (`null`) let a handful of bytes ask for 2^60 of them.
   */
  claim(count: number): void {
    if ((this.claimable -= count) < 0) throw new Malformed('it claims more items than it has bytes');
  }

  /** One level deeper; {@link leave} when it is read. Bounded, so that recursion in a writer's schema can't exhaust our stack. */
  enter(): void {
    if (++this.depth > 100) throw new Malformed('it nests deeper than 100 levels');
  }

  leave(): void {
    this.depth--;
  }

  private byte(): number {
    if (this.pos >= this.end) throw cut();
    return this.bytes[this.pos++] as number;
  }
}

const cut = () => new Malformed('it ends too early');

/** Zig-zag: 0, -1, 1, -2, … as 0, 1, 2, 3, …; for numbers below 2^53, above which an odd one can't be told from an even one. */
export const unzigzag = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);
