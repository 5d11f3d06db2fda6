import { closeSync, openSync, writeSync } from 'node:fs';
import type { Answer } from './answers';

/** One line of the journal: what the partner saw and what it said, in the order in which it did. */
export type JournalLine =
  | {
      kind: 'seen';
      at: string;
      partner: string;
      order: string;
      id: string;
      correlationId: string | undefined;
      partition: number;
      offset: string;
      /** This message id came before. */
      repeated: boolean;
      behaviour: string;
    }
  | { kind: 'unreadable'; at: string; topic: string; partition: number; offset: string; why: string }
  | { kind: 'answered'; at: string; order: string | null; requestId: string; id: string | null; code: Answer['code'] };

/**
 * JSON lines in a file, appended. Written before the deed is acknowledged (a request before its offset is committed), so
 * that a killed partner leaves no gap; without a file it does nothing.
 */
export class Journal {
  private readonly file: number | undefined;

  constructor(path: string | undefined) {
    this.file = path === undefined ? undefined : openSync(path, 'a');
  }

  write(lines: readonly JournalLine[]): void {
    if (this.file === undefined || lines.length === 0) return;
    writeSync(this.file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
  }
}
