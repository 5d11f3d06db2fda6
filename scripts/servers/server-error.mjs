/** A failure that a person can mend: what happened, why, what to do next. Printed without a stack. */
export class ServerError extends Error {
  constructor(what, why, next) {
    super([what, why && `  why:  ${why}`, next && `  next: ${next}`].filter(Boolean).join('\n'));
    this.name = 'ServerError';
  }

  toString() {
    return this.message;
  }
}

/** Ends a script: a ServerError as its text alone, anything else with its stack. */
export function fail(error) {
  console.error(error instanceof ServerError ? error.message : error);
  process.exit(1);
}
