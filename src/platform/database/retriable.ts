/**
 * SQLSTATEs of a database that can't work for anybody just now: connection lost or refused (08, 57P), out of room (53), an
 * I/O error (58), read-only after a failover (25006), a session that was ended for idling (25P03), credentials or database
 * missing (28, 3D000). Not 25P02: there a statement has failed before, and that one says why.
 */
const OUTAGE_STATES = /^(08...|57P..|53...|58...|25006|25P03|28...|3D000)$/;
/** SQLSTATEs after which the same transaction may succeed: serialization failure, deadlock, lock not available. */
const CONFLICT_STATES = /^(40001|40P01|55P03)$/;
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
 * Is the database itself out of reach, out of room or unable to work (nobody's poison), as opposed to refusing this
 * statement? The driver's words count only where no code says more: the text of a refused statement may quote a document.
 */
export function isDatabaseOutage(error: unknown): boolean {
  const { code, name, message } = driverError(error);
  return (
    (typeof code === 'string' && (OUTAGE_STATES.test(code) || SOCKET_CODES.has(code))) ||
    name === 'QueryRunnerProviderAlreadyReleasedError' ||
    name === 'QueryRunnerAlreadyReleasedError' ||
    (code === undefined && DRIVER_MESSAGES.test(String(message)))
  );
}

/** May the same transaction be tried again as it is? An ambiguous commit counts: idempotency makes the repeat safe. */
export function isRetriable(error: unknown): boolean {
  return CONFLICT_STATES.test(sqlState(error) ?? '') || isDatabaseOutage(error);
}
