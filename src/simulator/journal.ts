import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { JournalLine } from './journal-line';
import type { Recalled } from './order-book';

/** How lines begin that a restarted partner has to know; the rest is for others to read. */
const REMEMBERED = ['{"kind":"cancelling"', '{"kind":"despatching"'];

/**
 * JSON lines in a file, appended. Written before the deed is acknowledged (a request before its offset is committed), so
 * that a killed partner leaves no gap; without a file it does nothing.
 */
export class Journal {
  private readonly file: number | undefined;

  constructor(private readonly path: string | undefined) {
    this.file = path === undefined ? undefined : openSync(path, 'a');
  }

  /** Tells what an earlier run wrote down and this one has to know. */
  async recall(tell: (line: Recalled) => void): Promise<void> {
    if (this.path === undefined) return;
    for await (const line of createInterface({ input: createReadStream(this.path), crlfDelay: Infinity })) {
      if (REMEMBERED.some((start) => line.startsWith(start))) tell(JSON.parse(line) as Recalled);
    }
  }

  write(lines: readonly JournalLine[]): void {
    if (this.file === undefined || lines.length === 0) return;
    writeSync(this.file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
  }
}
