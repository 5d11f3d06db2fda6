import { gzipSync } from 'node:zlib';
import { sorted } from './zip';

const BLOCK = 512;
/** The byte of a gzip header that names the system it was made on; 255: unknown. */
const SYSTEM_AT = 9;

/** A gzipped ustar archive, as `npm install` takes it; the same bytes for the same files. Names have 100 bytes at most. */
export function tarballOf(files: ReadonlyMap<string, Buffer>): Buffer {
  const blocks = sorted(files).flatMap(([name, content]) => [
    headerOf(name, content.length),
    content,
    Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
  ]);
  const packed = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 });
  packed[SYSTEM_AT] = 255;
  return packed;
}

function headerOf(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new RangeError(`"${name}" is too long for the archive`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  header.write(name, 0);
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.write(' '.repeat(8), 148, 'latin1');
  header.write('0', 156, 'latin1');
  header.write('ustar\0' + '00', 257, 'latin1');
  // The sum counts its own place as blanks.
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
    'latin1',
  );
  return header;
}
