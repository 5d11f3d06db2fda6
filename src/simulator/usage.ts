/** Everything that is wrong with the command line, so that it can be mended in one go. */
export class UsageError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`${faults.join('\n')}\nSee --help.`);
    this.name = 'UsageError';
  }
}

/** The value that `read` makes, or a fault named after the flag. */
export type Attempt = <T>(flag: string, fallback: T, read: () => T) => T;

/** Gathers the faults of flags, and throws all of them at the end. */
export class Faults {
  readonly list: string[] = [];

  readonly attempt: Attempt = (flag, fallback, read) => {
    try {
      return read();
    } catch (error) {
      this.list.push(`--${flag} ${(error as Error).message}.`);
      return fallback;
    }
  };

  /** Throws {@link UsageError} where there are any. */
  settle(): void {
    if (this.list.length > 0) throw new UsageError(this.list);
  }
}

export function milliseconds(text: string): number {
  if (!/^\d{1,8}$/.test(text)) throw new RangeError(`must be a whole number of milliseconds, not "${text}"`);
  return Number(text);
}

export function wholeNumber(text: string, least: number, most: number): number {
  if (!/^\d{1,8}$/.test(text) || +text < least || +text > most) {
    throw new RangeError(`must be a whole number from ${least} to ${most}, not "${text}"`);
  }
  return Number(text);
}
