/**
 * SQLSTATEs after which the same transaction may succeed: connection lost (08, 57P01-03), cannot connect now,
 * serialization failure (40001), deadlock (40P01), too many connections (53300), lock not available (55P03).
 */
const RETRIABLE_STATES = /^(08...|57P0[123]|40001|40P01|53300|55P03)$/;
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const DRIVER_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Driver not Connected|not queryable|timeout expired/i;

const driverError = (error: unknown): { code?: unknown; name?: unknown; message?: unknown } =>
  (error as { driverError?: object } | null)?.driverError ?? (error as object | null) ?? {};

/** The SQLSTATE of a database error, or undefined for anything else. */
export function sqlState(error: unknown): string | undefined {
  const { code } = driverError(error);
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !SOCKET_CODES.has(code) ? code : undefined;
}

/**
 * Is the database itself out of reach or out of room (nobody's poison), as opposed to refusing this statement? The driver's
 * words count only where no code says more: the text of a refused statement may quote a document.
 */
export function isDatabaseOutage(error: unknown): boolean {
  const { code, name, message } = driverError(error);
  return (
    (typeof code === 'string' && (/^(08...|57P0[123]|53...)$/.test(code) || SOCKET_CODES.has(code))) ||
    name === 'QueryRunnerProviderAlreadyReleasedError' ||
    name === 'QueryRunnerAlreadyReleasedError' ||
    (code === undefined && DRIVER_MESSAGES.test(String(message)))
  );
}

/** May the same transaction be tried again as it is? An ambiguous commit counts: idempotency makes the repeat safe. */
export function isRetriable(error: unknown): boolean {
  return RETRIABLE_STATES.test(sqlState(error) ?? '') || isDatabaseOutage(error);
}
