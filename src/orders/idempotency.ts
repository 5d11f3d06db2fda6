import { hash } from 'node:crypto';
import { AppError, NonRetriableError } from '../platform/errors';
import type { IdempotencyKey } from './order.repository';

/** Names a key among others; `\0` can't be part of either. */
export const nameOf = ({ caller, key }: IdempotencyKey): string => `${caller}\0${key}`;

/**
 * What the try-lock on a key is taken on: 64 bits of its name, as PostgreSQL's bigint. Two names that share them only make
 * each other answer 409 while both run.
 */
export const lockOf = (key: IdempotencyKey): string =>
  hash('sha256', nameOf(key), 'buffer').readBigInt64BE().toString();

export const inProgress = (): AppError =>
  new AppError('idempotency-key-in-progress', 'A request with this Idempotency-Key is still running.', {
    retryAfter: 1,
  });

export const keyReused = (): AppError =>
  new NonRetriableError('idempotency-key-reused', 'The Idempotency-Key was used before with another request.', {
    violations: [{ pointer: 'Idempotency-Key', detail: 'belongs to another request' }],
  });
