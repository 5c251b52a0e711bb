/**
 * The turn of a user: an advisory lock per account and user that ends with the commit. Batches draw their `place` under
 * it, so pushes of one user take effect in the order of their answers (R-D6).
 */

/** The turn as a key, for the process that stores pushes (R-D6). Equals `turnKeySql`. */
export function turnKey(accountId: number, userId: string): string {
  return `${accountId} ${userId}`;
}

/**
 * @param accountId SQL expression, int.
 * @param userId SQL expression, text.
 * @returns SQL expression of the key, text (R-D6).
 */
export function turnKeySql(accountId: string, userId: string): string {
  return `${accountId} || ' ' || ${userId}`;
}

/**
 * @param key SQL expression of a turn's key.
 * @returns SQL expression that waits for the turn and takes it (R-D6).
 */
export function lockTurnSql(key: string): string {
  return `pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
}
