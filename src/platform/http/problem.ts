import { HttpException } from '@nestjs/common';
import { isDatabaseOutage, sqlState } from '../database';
import { AppError, type Violation } from '../errors';
import { PROBLEM_CODES, problemPage, type ProblemCode } from './problem-codes';

/** RFC 9457 with Parley's members. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: string;
  traceId: string;
  errors?: readonly Violation[];
}

/** A problem before it is tied to a request. */
export interface Verdict {
  code: string;
  status: number;
  title: string;
  detail: string;
  errors: readonly Violation[];
  /** Seconds. */
  retryAfter: number | undefined;
}

const RETRY_AFTER_SECONDS = 2;
const UNSUPPORTED = 'The body is not said to be JSON. Send it with Content-Type: application/json.';

/** Codes of what Nest and Fastify refuse by themselves, by status. */
const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  404: 'not-found',
  405: 'method-not-allowed',
  413: 'body-too-large',
  414: 'uri-too-long',
  415: 'content-type-unsupported',
  429: 'rate-limited',
  431: 'headers-too-large',
  503: 'shutting-down',
};

/** Maps any thrown value. Total; says nothing of the inside for what is not listed in {@link PROBLEM_CODES}. */
export function verdictOf(error: unknown): Verdict {
  if (error instanceof AppError && Object.hasOwn(PROBLEM_CODES, error.code)) {
    const detail = error.hint ? `${error.message} ${error.hint}` : error.message;
    return verdict(error.code, detail, error.violations, error.retryAfter);
  }
  if (isDatabaseOutage(error) || sqlState(error) === '57014') {
    return verdict('database-unavailable', 'The database did not answer; whether the request took effect is unknown.');
  }
  const status = error instanceof HttpException ? error.getStatus() : statusOf(error);
  if (status !== undefined && status >= 400 && status < 500) return refusedByFramework(status, error);
  if (status === 503) return verdict('shutting-down', 'The process is stopping and takes no new requests.');
  return verdict('internal', 'The request failed for a reason that is in the log under its traceId.');
}

/** Ties a verdict to a request. */
export function problemOf(found: Verdict, instance: string, traceId: string): Problem {
  const { code, status, title, detail, errors } = found;
  const problem: Problem = { type: problemPage(code), title, status, detail, instance, code, traceId };
  return errors.length > 0 ? { ...problem, errors } : problem;
}

function verdict(code: string, detail: string, errors: readonly Violation[] = [], retryAfter?: number): Verdict {
  const { status, title } = PROBLEM_CODES[code] as ProblemCode;
  const wait = retryAfter ?? (status === 503 ? RETRY_AFTER_SECONDS : undefined);
  return { code, status, title, detail, errors, retryAfter: wait };
}

function refusedByFramework(status: number, error: unknown): Verdict {
  const cause = error instanceof HttpException && error.cause instanceof Error ? error.cause : error;
  const detail = cause instanceof Error ? cause.message : 'The request was refused.';
  const isParserError = cause instanceof SyntaxError || /JSON/.test(String((cause as { code?: unknown }).code));
  if (status === 400)
    return verdict(isParserError ? 'malformed-json' : 'request-malformed', `${detail}.`.replace(/\.+$/, '.'));
  if (status === 415) return verdict('content-type-unsupported', UNSUPPORTED);
  return verdict(CODE_OF_STATUS[status] ?? 'request-malformed', `${detail}.`.replace(/\.+$/, '.'));
}

const statusOf = (error: unknown): number | undefined => {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
};
