/** Tells a dependency that is down from a bug: the one is answered 503 and worth another try, the other 500 (R-A5). */

// Unreachable may also become a connection that stood: what was asked on it may have been done.
const NETWORK_CODES: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
]);
// Classes 08 (connection), 53 (resources) and 57 (operator intervention: restart, time-outs) of PostgreSQL, and 25P03: the
// session was ended because its process left a transaction idle, for example while it was stopped.
const POSTGRES_CLASSES = /^(08...|53...|57...|25P03)$/;
// Besides those: class 40 (the transaction was rolled back, such as a deadlock), 55P03 (lock timeout), class 58 (disk).
const TRANSIENT_CLASSES = /^(40...|55P03|58...)$/;
const FOREIGN_KEY_VIOLATION = '23503';
const MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|connection is closed|command timed out|is not queryable/i;

/** Whether a row referred to was deleted, or a row deleted was referred to, by another transaction meanwhile. */
export function isReferenceViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === FOREIGN_KEY_VIOLATION;
}

/**
 * Whether the work may succeed when it is repeated unchanged (R-A15): the error is a fault of a dependency or of another
 * transaction, not of the data.
 */
export function isTransientError(error: unknown): boolean {
  return isDependencyError(error) || TRANSIENT_CLASSES.test(sqlStateOf(error) ?? '');
}

/** @returns the SQLSTATE of an error of PostgreSQL; undefined for other errors. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[\dA-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether the error says that the database or Redis cannot be reached right now. */
export function isDependencyError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (NETWORK_CODES.has(code) || POSTGRES_CLASSES.test(code)) return true;
  if (error instanceof AggregateError) return error.errors.some(isDependencyError);
  return MESSAGES.test(error.message);
}
