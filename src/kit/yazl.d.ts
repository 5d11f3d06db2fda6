/** What the kit uses of it. */
declare module 'yazl' {
  interface EntryOptions {
    mtime: Date;
    mode: number;
    compress: boolean;
    /** Only the time without a zone, which says the same on every machine. */
    forceDosTimestamp: boolean;
  }
  export class ZipFile {
    readonly outputStream: NodeJS.ReadableStream;
    addBuffer(content: Buffer, name: string, options: EntryOptions): void;
    end(): void;
  }
}
