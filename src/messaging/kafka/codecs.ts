import { promisify } from 'node:util';
import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import { compressFrame, decompressFrame } from 'lz4-napi';
import type { CompressionTypes as Types } from 'kafkajs';

interface Codec {
  compress(encoder: { buffer: Buffer }): Promise<Buffer>;
  decompress(buffer: Buffer): Promise<Buffer>;
}

/**
 * Most bytes that one gzip or zstd batch may unpack to: a client unpacks a whole fetch at once, so a small record that grows
 * without end would take the process down. lz4 grows at most 255-fold and snappy 21-fold by their formats, and the broker
 * has unpacked both before; gzip grows a thousandfold, zstd without bound.
 */
export const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;

const limits = { maxOutputLength: MAX_UNPACKED_BYTES };
const asyncGzip = promisify<Buffer, Buffer>(gzip);
const asyncZstd = promisify<Buffer, Buffer>(zstdCompress);
const asyncGunzip = promisify<Buffer, typeof limits, Buffer>(gunzip);
const asyncUnzstd = promisify<Buffer, typeof limits, Buffer>(zstdDecompress);

const gzipCodec: Codec = {
  compress: ({ buffer }) => asyncGzip(buffer),
  decompress: (buffer) => asyncGunzip(buffer, limits),
};
const zstdCodec: Codec = {
  compress: ({ buffer }) => asyncZstd(buffer),
  decompress: (buffer) => asyncUnzstd(buffer, limits),
};
const lz4Codec: Codec = {
  compress: ({ buffer }) => compressFrame(buffer),
  decompress: (buffer) => decompressFrame(buffer),
};

/** Every codec that a broker lets through; without one of them a consumer dies at its first batch. */
export function registerCodecs(
  registry: Record<number, () => unknown>,
  types: typeof Types,
  snappy: () => unknown,
): void {
  registry[types.GZIP] = () => gzipCodec;
  registry[types.Snappy] = snappy;
  registry[types.LZ4] = () => lz4Codec;
  registry[types.ZSTD] = () => zstdCodec;
}
