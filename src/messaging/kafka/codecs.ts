import { promisify } from 'node:util';
import { gunzip, gzip, zstdCompress, zstdDecompress, type ZlibOptions } from 'node:zlib';
import { compressFrame, decompressFrame } from 'lz4-napi';
import type { CompressionTypes as Types } from 'kafkajs';
import { counted, tooLarge, unpackLimit } from './fetch-budget';
import { lz4Size } from './lz4-size';

export interface Codec {
  compress(encoder: { buffer: Buffer }): Promise<Buffer>;
  decompress(buffer: Buffer): Promise<Buffer>;
}

type Limit = Pick<ZlibOptions, 'maxOutputLength'>;
const asyncGzip = promisify<Buffer, Buffer>(gzip);
const asyncZstd = promisify<Buffer, Buffer>(zstdCompress);
const asyncGunzip = promisify<Buffer, Limit, Buffer>(gunzip);
const asyncUnzstd = promisify<Buffer, Limit, Buffer>(zstdDecompress);

const gzipCodec: Codec = {
  compress: ({ buffer }) => asyncGzip(buffer),
  decompress: async (buffer) => counted(await asyncGunzip(buffer, { maxOutputLength: unpackLimit() })),
};
const zstdCodec: Codec = {
  compress: ({ buffer }) => asyncZstd(buffer),
  decompress: async (buffer) => counted(await asyncUnzstd(buffer, { maxOutputLength: unpackLimit() })),
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
