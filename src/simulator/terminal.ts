/** Where a program of this room gets its words from and says its own. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  /** The result; ends with a line feed. */
  out: (text: string) => void;
  /** Progress and hints, one line. */
  say: (line: string) => void;
  /** Called once, when somebody wants it to end in order. */
  onStop: (stop: () => void) => void;
}

/** This process's own; the second signal does not wait. */
export function processTerminal(name: string): Terminal {
  return {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    say: (line) => void process.stderr.write(`${name}: ${line}\n`),
    onStop: (stop) => {
      let asked = 0;
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.on(signal, () => {
          if (++asked > 1) process.exit(130);
          stop();
        });
      }
    },
  };
}

/** What the other side wrote stays within its line, and gives a terminal no orders. */
export const printable = (text: string): string => text.replaceAll(/[\p{C}\u2028\u2029]/gu, '?');
