import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** The same bytes for the same files, whenever and wherever it is made. */
export async function zipOf(files: ReadonlyMap<string, Buffer>, folder: string): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of sorted(files)) {
    zip.addBuffer(content, `${folder}/${name}`, {
      // The oldest that the format knows, in local time as the format has it.
      mtime: new Date(1980, 0, 1),
      mode: 0o100644,
      compress: true,
      forceDosTimestamp: true,
    });
  }
  zip.end();
  return buffer(zip.outputStream);
}

/** By code points: no order depends on a language. */
export const sorted = <T>(files: ReadonlyMap<string, T>): [string, T][] =>
  [...files].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
