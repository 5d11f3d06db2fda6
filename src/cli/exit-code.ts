import { AppError } from '../platform/errors';

const NOT_ALLOWED = 5;
const PLAN_CHANGED = 4;
const FAILED = 1;

const OF_CODE: Readonly<Record<string, number>> = {
  unauthenticated: NOT_ALLOWED,
  forbidden: NOT_ALLOWED,
  'partner-not-allowed': NOT_ALLOWED,
  'receivers-not-allowed': NOT_ALLOWED,
  'notification-provider-shared': NOT_ALLOWED,
  'api-key-exceeds-caller': NOT_ALLOWED,
  'edit-own': NOT_ALLOWED,
  'plan-changed': PLAN_CHANGED,
  'partner-plan-changed': PLAN_CHANGED,
  'version-stale': PLAN_CHANGED,
};

/** What a command ends with that threw: 5 not allowed (by the API, or by PostgreSQL's rights), 4 what was looked at is no longer so, else 1. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof AppError) return OF_CODE[error.code] ?? FAILED;
  return sqlStateOf(error) === '42501' ? NOT_ALLOWED : FAILED;
}

/**
 * The SQLSTATE of what a command threw, by TypeORM or by the driver itself. Not through the door of the database's room, which would
 * load the drivers for commands that never ask it.
 */
export function sqlStateOf(error: unknown): string | undefined {
  const { driverError, code } = (error ?? {}) as { driverError?: { code?: string }; code?: string };
  return driverError?.code ?? code;
}
