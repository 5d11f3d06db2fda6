import { createInterface } from 'node:readline/promises';

/** Can somebody be asked? */
export const isTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks on the terminal; anything but yes is no. */
export async function confirmed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
