import { hash } from 'node:crypto';
import { isRetriable, sqlState } from '../../platform/database';
import { AppError, messageOf } from '../../platform/errors';
import { RegistryUnavailable } from '../registry';
import type { Outcome } from './handler';
import { storableText } from './text';

/** What the registry says that is no record's fault: its operator, or ours, has something to do. */
const REGISTRY_TROUBLE: ReadonlySet<string> = new Set([
  'registry-refused',
  'registry-unconfigured',
  'schema-unpublished',
]);

/** What our infrastructure does to a message: nobody's poison. Nothing is parked or counted; the batch waits. */
export type Infrastructure = 'database' | 'registry';

export function infrastructureOf(error: unknown): Infrastructure | undefined {
  if (error instanceof RegistryUnavailable) return 'registry';
  if (error instanceof AppError && REGISTRY_TROUBLE.has(error.code)) return 'registry';
  return isRetriable(error) ? 'database' : undefined;
}

/** An outcome that nobody decided: its words are an error's, and stay in the house. */
export type Thrown = Outcome & {
  kind: 'retry' | 'dead';
  thrown: true;
  /** The error and its causes, outermost first: class and message, bounded. */
  rootCause: string;
  /** Their classes alone, with the codes that tell one use of a class from another. */
  classes: readonly string[];
};

export function thrownOf(outcome: Outcome): Thrown | undefined {
  return 'thrown' in outcome ? (outcome as Thrown) : undefined;
}

/** What an exception means for the one record that is left alone with it: an attempt, or the end. */
export function outcomeOf(error: unknown): Thrown {
  const detail = messageOf(error);
  const thrown = { detail, thrown: true, ...causesOf(error) } as const;
  if (error instanceof AppError && !error.retriable) return { kind: 'dead', code: error.code, ...thrown };
  const code = sqlState(error) === '57014' ? 'statement-timeout' : 'handler-failed';
  return { kind: 'retry', code: error instanceof AppError ? error.code : code, ...thrown };
}

/** So deep causes are followed: who throws may link them in a circle. */
const MAX_CAUSES = 10;
const MAX_ROOT_CAUSE = 2000;

/** Messages only: a database error also carries the statement's parameters, which are the partner's document. */
function causesOf(error: unknown): Pick<Thrown, 'rootCause' | 'classes'> {
  const classes: string[] = [];
  const lines: string[] = [];
  for (let cause = error; cause !== undefined && cause !== null && classes.length < MAX_CAUSES;) {
    classes.push(classOf(cause));
    lines.push(`${classOf(cause)}: ${messageOf(cause)}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return { rootCause: storableText(messageOf(lines.join('\ncaused by '), MAX_ROOT_CAUSE), MAX_ROOT_CAUSE), classes };
}

function classOf(error: unknown): string {
  const name = error instanceof Error ? error.constructor.name : typeof error;
  const code = error instanceof AppError ? error.code : sqlState(error);
  return code === undefined ? name : `${name}(${code})`;
}

/** Where a message failed: before any handler saw it · by a handler's decision · by an exception · with the process that tried it. */
export type FailedIn = 'inspection' | 'handler' | 'exception' | 'process';

export interface Cause {
  code: string;
  /** CloudEvents type of the contract; undefined for a document that nobody knows. */
  type: string | undefined;
  pointer: string | undefined;
  failedIn: FailedIn;
  classes: readonly string[];
}

/** Equal for failures of one cause, for ever: nothing of a message's own text goes into it, and one line of a document is like another. */
export function fingerprintOf({ code, type, pointer, failedIn, classes }: Cause): string {
  const place = pointer?.replaceAll(/(?<=\/)\d+(?=\/|$)/g, '*');
  return hash('sha256', JSON.stringify([code, type, place, failedIn, classes]), 'hex').slice(0, 16);
}
