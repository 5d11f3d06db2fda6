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
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : lines.map((line) => `${oneLine(line)}\n`).join(''));
}
