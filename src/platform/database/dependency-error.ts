/**
 * Recognises unexpected errors that are not bugs (R-A5): temporary errors, such as an unavailable dependency (503, the
 * client may retry), and violated foreign keys (409). Any other unexpected error is a bug (500).
 */

// Codes of a connection that cannot be opened. A connection that is already open can fail with them too; in that case
// its last request may have taken effect.
const NETWORK_CODES: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
]);
// PostgreSQL error classes 08 (connection), 53 (resources, such as a full disk), 57 (operator intervention: restart,
// time-outs) and 58 (I/O), and the single code 25P03. PostgreSQL reports 25P03 after it ended a session that left a
// transaction idle, for example while the client process was suspended.
const POSTGRES_CLASSES = /^(08...|53...|57...|58...|25P03)$/;
// Errors after which the same work may succeed when it is repeated: class 40 (the transaction was rolled back, for
// example after a deadlock) and 55P03 (lock timeout).
const TRANSIENT_CLASSES = /^(40...|55P03)$/;
// Codes for a lack of processes, memory, file descriptors or writable disk space on this machine.
const MACHINE_CODES: ReadonlySet<string> = new Set([
  'EAGAIN',
  'ENOMEM',
  'EMFILE',
  'ENFILE',
  'ENOSPC',
  'EDQUOT',
  'EROFS',
]);
const FOREIGN_KEY_VIOLATION = '23503';
const MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|connection is closed|command timed out|is not queryable/i;

/**
 * Returns true when a foreign key is violated (23503), usually because another transaction deleted a row that this
 * transaction refers to, or added a reference to a row that this transaction deletes.
 */
export function isReferenceViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === FOREIGN_KEY_VIOLATION;
}

/**
 * Returns true when repeating the same work may succeed (R-A15), because the cause of the error is a dependency, this
 * machine or another transaction, not the data.
 */
export function isTransientError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return isDependencyError(error) || MACHINE_CODES.has(code) || TRANSIENT_CLASSES.test(code);
}

/** @returns the SQLSTATE of an error of PostgreSQL; undefined for other errors, such as EPIPE. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(?=.*\d)[\dA-Z]{5}$/.test(code) ? code : undefined;
}

/** Returns true when the error means that a dependency, such as the database or Redis, is unavailable (R-A5). */
export function isDependencyError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (NETWORK_CODES.has(code) || POSTGRES_CLASSES.test(code)) return true;
  if (error instanceof AggregateError) return error.errors.some(isDependencyError);
  return MESSAGES.test(error.message);
}
