import { AppError } from '../platform/errors';

/** One line on standard error: progress and hints never mix with the result. */
export function hint(line: string): void {
  process.stderr.write(`${oneLine(line)}\n`);
}

/** Names and words of registries and partners stay within their line, and give a terminal no orders. */
export function oneLine(text: string): string {
  return text.replaceAll(/[^\P{C}\t]|[\u2028\u2029]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

/** The result on standard output: JSON when asked for, else the given lines. */
export function print(json: boolean, value: unknown, lines: readonly string[]): void {
  process.stdout.write(textOf(json, value, lines));
}

/** What an unread secret means where whoever makes it waits for its reader. */
const NOT_MADE = {
  message: 'Nobody read the secret, so it does not count.',
  hint: 'Run it again, with its output where you can read it: that goes on and makes another secret.',
};

/**
 * {@link print} of what is told once and kept nowhere: resolves when it is written, so that whoever makes a secret can count on it. Throws `secret-unread`
 * when nobody reads; the last argument says what that means.
 */
export function tell(
  json: boolean,
  value: unknown,
  lines: readonly string[],
  { message, hint: next } = NOT_MADE,
): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(textOf(json, value, lines), (cause) => {
      if (!cause) return resolve();
      reject(new AppError('secret-unread', message, { cause, hint: next }));
    });
  });
}

const textOf = (json: boolean, value: unknown, lines: readonly string[]): string =>
  json ? `${JSON.stringify(value)}\n` : lines.map((line) => `${oneLine(line)}\n`).join('');
