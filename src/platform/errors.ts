/** One violated rule of an input: which place (RFC 6901 pointer, or a header or query name) and what the rule says. */
export interface Violation {
  pointer: string;
  detail: string;
}

export interface AppErrorOptions {
  /** May the same call succeed later without a change of its input? */
  retriable?: boolean;
  cause?: unknown;
  violations?: readonly Violation[];
  /** What the reader should do next, one sentence. */
  hint?: string;
  /** Seconds after which a retry makes sense. */
  retryAfter?: number;
}

/** An error with a name that outlives its wording. `code` is a stable slug (`order-number-taken`); HTTP statuses live in `platform/http`. */
export class AppError extends Error {
  readonly retriable: boolean;
  readonly violations: readonly Violation[];
  readonly hint: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(
    readonly code: string,
    message: string,
    options: AppErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.retriable = options.retriable ?? true;
    this.violations = options.violations ?? [];
    this.hint = options.hint;
    this.retryAfter = options.retryAfter;
  }
}

/** What no retry can heal: an undecodable record, an illegal transition, a bad argument. */
export class NonRetriableError extends AppError {
  constructor(code: string, message: string, options: Omit<AppErrorOptions, 'retriable'> = {}) {
    super(code, message, { ...options, retriable: false });
  }
}

/** The message of any thrown value, bounded, for logs and stored rows. Never a stack. */
export function messageOf(error: unknown, limit = 500): string {
  const text =
    error instanceof AggregateError && error.errors.length > 0
      ? messageOf(error.errors[0])
      : String(error instanceof Error ? error.message || error.name : error);
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}
