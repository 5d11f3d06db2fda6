import { hash } from 'node:crypto';
import { isRetriable, sqlState } from '../../platform/database';
import { AppError, messageOf } from '../../platform/errors';
import { RegistryUnavailable } from '../registry';
import type { Outcome } from './handler';

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
export type Thrown = Outcome & { kind: 'retry' | 'dead'; thrown: true };

export function isThrown(outcome: Outcome): boolean {
  return 'thrown' in outcome;
}

/** What an exception means for the one record that is left alone with it: an attempt, or the end. */
export function outcomeOf(error: unknown): Thrown {
  const detail = messageOf(error);
  const retry = (code: string): Thrown => ({ kind: 'retry', code, detail, thrown: true });
  if (error instanceof AppError) {
    return error.retriable ? retry(error.code) : { kind: 'dead', code: error.code, detail, thrown: true };
  }
  return retry(sqlState(error) === '57014' ? 'statement-timeout' : 'handler-failed');
}

/** Equal for failures of one sort: the numbers, ids and quoted values of the text don't count. */
export function fingerprintOf(type: string | null, code: string, detail: string): string {
  const shape = detail.replace(/"[^"]*"|'[^']*'|[0-9a-f]{8}-[0-9a-f-]{27}|\d+/gi, '?');
  return hash('sha256', `${type ?? ''}\n${code}\n${shape}`, 'hex').slice(0, 16);
}
