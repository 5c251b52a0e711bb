/** Computes what makes older tokens invalid: the fingerprint of the password, and the earliest valid time of issue. */
import { createHash } from 'node:crypto';

/**
 * Returns the fingerprint of a stored password. A different fingerprint shows that the password was changed (R-B5).
 * @param hash the stored hash. It is salted, so the fingerprint changes even when the same password is chosen again.
 */
export function passwordFingerprint(hash: string): string {
  return createHash('sha256').update(hash).digest('hex');
}

/**
 * SQL that computes `passwordFingerprint`. The result is null for a user without a password or with a temporary one.
 * @param user alias of app_user.
 */
export function passwordFingerprintSql(user: string): string {
  return `case when not ${user}.must_change_password
               then encode(sha256(convert_to(${user}.password_hash, 'UTF8')), 'hex') end`;
}

/**
 * @returns an SQL expression for a time in Unix seconds. A token of the user is revoked if its claim `iat` is earlier.
 * @param user alias of app_user.
 */
export function tokensValidFromSql(user: string): string {
  return `coalesce(floor(extract(epoch from ${user}.tokens_valid_from)), 0)::float8`;
}
