/** LZ4 frame format 1.6: magic, flags, block maximum, perhaps the content's size and a dictionary's id, checksum; then the blocks. */
const FLAGS_AT = 4;
const HEADER_BYTES = 7;
const BLOCK_CHECKSUM = 0x10;
const CONTENT_SIZE = 0x08;
const DICTIONARY_ID = 0x01;
const UNCOMPRESSED = 0x80000000;
/** Shortest repetition. */
const MIN_MATCH = 4;

/**
 * What a frame unpacks to, in bytes, without unpacking it; more than `limit` as soon as that is certain. LZ4 grows up to 255-fold,
 * and its library takes no limit. Broken bytes give whatever they give: unpacking will say so.
 */
export function lz4Size(frame: Buffer, limit: number): number {
  const flags = frame[FLAGS_AT] ?? 0;
  let at = HEADER_BYTES + (flags & CONTENT_SIZE ? 8 : 0) + (flags & DICTIONARY_ID ? 4 : 0);
  let size = 0;
  while (at + 4 <= frame.length && size <= limit) {
    const word = frame.readUInt32LE(at);
    if (word === 0) break;
    const length = word & ~UNCOMPRESSED;
    const block = frame.subarray(at + 4, at + 4 + length);
    size += word >= UNCOMPRESSED ? block.length : blockSize(block, limit - size);
    at += 4 + length + (flags & BLOCK_CHECKSUM ? 4 : 0);
  }
  return size;
}

function blockSize(block: Buffer, limit: number): number {
  let at = 0;
  let size = 0;
  /** A nibble of 15 goes on in the bytes that follow, up to the first that is not 255. */
  const lengthFrom = (nibble: number): number => {
    let length = nibble;
    if (nibble < 15) return length;
    for (;;) {
      const more = block[at++] ?? 0;
      length += more;
      if (more < 255) return length;
    }
  };
  while (at < block.length && size <= limit) {
    const token = block[at++] ?? 0;
    const literals = lengthFrom(token >> 4);
    at += literals;
    size += literals;
    // The last sequence of a block has no repetition.
    if (at >= block.length) break;
    at += 2;
    size += lengthFrom(token & 15) + MIN_MATCH;
  }
  return size;
}
