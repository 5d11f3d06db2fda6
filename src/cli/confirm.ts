import { createInterface } from 'node:readline/promises';

/** Can somebody be asked? */
export const isTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks on the terminal; anything but yes is no. Ctrl-C there is the signal that it is elsewhere. */
export async function confirmed(
  question: string,
  { input, output }: { input: NodeJS.ReadableStream; output: NodeJS.WritableStream } = {
    input: process.stdin,
    output: process.stderr,
  },
): Promise<boolean> {
  const terminal = createInterface({ input, output, terminal: true });
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } catch (error) {
    // Ctrl-D: the answers ended.
    if ((error as Error).name === 'AbortError') return false;
    throw error;
  } finally {
    terminal.close();
  }
}
