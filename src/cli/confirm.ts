import { createInterface } from 'node:readline/promises';

/** Can somebody be asked? */
export const isTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

interface Streams {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

const TERMINAL: Streams = { input: process.stdin, output: process.stderr };

/** Asks on the terminal; anything but yes is no. Ctrl-C there is the signal that it is elsewhere. */
export async function confirmed(question: string, streams = TERMINAL): Promise<boolean> {
  return /^y(es)?$/i.test((await answered(`${question} [y/N] `, streams))?.trim() ?? '');
}

/** What is typed in a line; undefined when the answers ended (Ctrl-D). */
export async function answered(question: string, { input, output } = TERMINAL): Promise<string | undefined> {
  const terminal = createInterface({ input, output, terminal: true });
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return await terminal.question(question);
  } catch (error) {
    if ((error as Error).name === 'AbortError') return undefined;
    throw error;
  } finally {
    terminal.close();
  }
}
