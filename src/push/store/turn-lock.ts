/**
 * Each user of an account has an advisory lock. A transaction takes the lock before it queues the user's batches, and
 * holds the lock until the commit. So the user's pushes take effect in the order of their answers (R-D6).
 */

/** @returns the key of a user's lock (R-D6); `turnKeySql` computes the same key in SQL. */
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
 * @param key SQL expression of the key, for example the result of `turnKeySql`.
 * @returns SQL expression that waits for the lock and acquires it (R-D6).
 */
export function lockTurnSql(key: string): string {
  return `pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
}
