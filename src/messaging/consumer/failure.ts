import { hash } from 'node:crypto';
import { isRetriable, sqlState } from '../../platform/database';
import { AppError, messageOf } from '../../platform/errors';
import { RegistryUnavailable } from '../registry';
import type { Outcome } from './handler';

/** What our infrastructure does to a message: nobody's poison. Nothing is parked or counted; the batch waits. */
export type Infrastructure = 'database' | 'registry';

export function infrastructureOf(error: unknown): Infrastructure | undefined {
  if (error instanceof RegistryUnavailable) return 'registry';
  return isRetriable(error) ? 'database' : undefined;
}

/** What an exception means for the one record that is left alone with it: an attempt, or the end. */
export function outcomeOf(error: unknown): Outcome & { kind: 'retry' | 'dead' } {
  const detail = messageOf(error);
  if (error instanceof AppError) return { kind: error.retriable ? 'retry' : 'dead', code: error.code, detail };
  if (sqlState(error) === '57014') return { kind: 'retry', code: 'statement-timeout', detail };
  return { kind: 'retry', code: 'handler-failed', detail };
}

/** Equal for failures of one sort: the numbers, ids and quoted values of the text don't count. */
export function fingerprintOf(type: string | null, code: string, detail: string): string {
  const shape = detail.replace(/"[^"]*"|'[^']*'|[0-9a-f]{8}-[0-9a-f-]{27}|\d+/gi, '?');
  return hash('sha256', `${type ?? ''}\n${code}\n${shape}`, 'hex').slice(0, 16);
}
