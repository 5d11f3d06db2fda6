import { readFileSync, statSync } from 'node:fs';

/** How old a secret may be when it is used, ms. Kubernetes takes a minute to bring a changed one; a look costs some microseconds. */
const LOOK_MS = 1000;
const MOST_BYTES = 64 * 1024;

/**
 * A secret that stands in a file (`<NAME>_FILE`), and may change while the process runs. Looked at by content when it is asked for: a mounted
 * secret is exchanged by a symbolic link above it, which watchers of the file don't see.
 */
export class SecretFile {
  private current: string;
  private lookedAt = performance.now();
  private fault: string | undefined;

  /**
   * Throws a RangeError that completes "NAME_FILE …" when the file can't be read, is empty or holds what `parse` refuses.
   * @param env of the value, without `_FILE`
   */
  constructor(
    readonly env: string,
    readonly path: string,
    private readonly parse: (raw: string) => unknown,
  ) {
    this.current = this.read();
  }

  /** As the file has it now, or had it {@link LOOK_MS} ago; while the file is missing or bad, what it held before. */
  get value(): string {
    if (performance.now() - this.lookedAt >= LOOK_MS) this.look();
    return this.current;
  }

  /** Why the file can't be used at present; undefined: it can. Quotes nothing of it. */
  get trouble(): string | undefined {
    void this.value;
    return this.fault;
  }

  private look(): void {
    this.lookedAt = performance.now();
    try {
      this.current = this.read();
      this.fault = undefined;
    } catch (error) {
      this.fault = (error as Error).message;
    }
  }

  private read(): string {
    const text = this.content();
    if (text === '') throw new RangeError('is empty');
    try {
      this.parse(text);
    } catch (error) {
      throw new RangeError(`holds what ${(error as Error).message}`, { cause: error });
    }
    return text;
  }

  /** Without the newline that editors and `echo` put at its end. The path is in no error: somebody may have put the secret in its place. */
  private content(): string {
    try {
      const { size } = statSync(this.path);
      if (size <= MOST_BYTES) return readFileSync(this.path, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      throw new RangeError(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`, { cause: error });
    }
    throw new RangeError(`is larger than ${MOST_BYTES} bytes, and is no secret`);
  }
}
