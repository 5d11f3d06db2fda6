import { oneLine } from '../output';
import { cut } from './table';

const CELLS = 24;
/** Where nobody sees a bar: a line now and then, for a log. */
const LINE_EVERY_MS = 10_000;

/** `[######------]`; full where there is nothing to do. */
export function bar(done: number, total: number, cells = CELLS): string {
  const filled = total === 0 ? cells : Math.floor((Math.min(done, total) / total) * cells);
  return `[${'#'.repeat(filled)}${'-'.repeat(cells - filled)}]`;
}

export interface ProgressStream {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** How far something is, on standard error: a bar that is drawn anew on a terminal, elsewhere a line now and then. */
export class Progress {
  private drawn = false;
  private lastText: string | undefined;
  private lastLineAt = -Infinity;

  constructor(
    private readonly stream: ProgressStream = process.stderr,
    private readonly now: () => number = () => performance.now(),
  ) {}

  show(done: number, total: number, words: string): void {
    const text = oneLine(`${done}/${total} ${words}`);
    if (text === this.lastText) return;
    if (this.stream.isTTY) {
      this.stream.write(`\r\x1b[K${cut(`${bar(done, total)} ${text}`, (this.stream.columns ?? 80) - 1)}`);
      this.drawn = true;
    } else {
      if (this.now() - this.lastLineAt < LINE_EVERY_MS) return;
      this.stream.write(`${text}\n`);
      this.lastLineAt = this.now();
    }
    this.lastText = text;
  }

  /** Leaves the terminal's line free for what comes next. */
  clear(): void {
    if (this.drawn) this.stream.write('\r\x1b[K');
    this.drawn = false;
    this.lastText = undefined;
  }
}
