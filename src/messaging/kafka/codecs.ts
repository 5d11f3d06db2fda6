import { promisify } from 'node:util';
import { gunzipSync, gzip, zstdCompress, zstdDecompressSync } from 'node:zlib';
import { compressFrame, decompressFrame } from 'lz4-napi';
import type { CompressionTypes as Types } from 'kafkajs';
import { counted, tooLarge, unpackLimit } from './fetch-budget';
import { lz4Size } from './lz4-size';

export interface Codec {
  compress(encoder: { buffer: Buffer }): Promise<Buffer>;
  decompress(buffer: Buffer): Promise<Buffer>;
}

const asyncGzip = promisify<Buffer, Buffer>(gzip);
const asyncZstd = promisify<Buffer, Buffer>(zstdCompress);

/**
 * Unpacked in place: zlib's asynchronous way hands every few kilobytes to another thread and back, which takes two to ten times as
 * long, and under load did now and then not come back at all, so that its fetch stood still. The limit bounds it to a fraction of a second.
 */
const inPlace = (): { maxOutputLength: number; chunkSize: number } => ({
  maxOutputLength: unpackLimit(),
  chunkSize: 64 * 1024,
});
/** As a rejection, not a throw. */
const unpack = async (work: () => Buffer): Promise<Buffer> => counted(await Promise.resolve().then(work));

const gzipCodec: Codec = {
  compress: ({ buffer }) => asyncGzip(buffer),
  decompress: (buffer) => unpack(() => gunzipSync(buffer, inPlace())),
};
const zstdCodec: Codec = {
  compress: ({ buffer }) => asyncZstd(buffer),
  decompress: (buffer) => unpack(() => zstdDecompressSync(buffer, inPlace())),
};
const lz4Codec: Codec = {
  compress: ({ buffer }) => compressFrame(buffer),
  decompress: async (buffer) => {
    const limit = unpackLimit();
    if (lz4Size(buffer, limit) > limit) throw tooLarge();
    return counted(await decompressFrame(buffer));
  },
};
/** It grows 21-fold at most, so that it is looked at afterwards. */
const snappyCodec = (library: Codec): Codec => ({
  compress: (encoder) => library.compress(encoder),
  decompress: async (buffer) => counted(await library.decompress(buffer)),
});

/** Every codec that a broker lets through; without one of them a consumer dies at its first batch. */
export function registerCodecs(
  registry: Record<number, () => unknown>,
  types: typeof Types,
  snappy: () => Codec,
): void {
  registry[types.GZIP] = () => gzipCodec;
  registry[types.Snappy] = () => snappyCodec(snappy());
  registry[types.LZ4] = () => lz4Codec;
  registry[types.ZSTD] = () => zstdCodec;
}
