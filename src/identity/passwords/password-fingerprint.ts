/** Fingerprints, which show that a password was changed, and the instant from which a user's tokens are valid. */
import { createHash } from 'node:crypto';

/**
 * Fingerprint of a stored password, to detect a change (R-B5).
 * @param hash the stored, salted hash: choosing the same password again changes the fingerprint.
 */
export function passwordFingerprint(hash: string): string {
  return createHash('sha256').update(hash).digest('hex');
}

/**
 * SQL that computes `passwordFingerprint`; null without a password or with a temporary one. @param user alias of
 * app_user.
 */
export function passwordFingerprintSql(user: string): string {
  return `case when not ${user}.must_change_password
               then encode(sha256(convert_to(${user}.password_hash, 'UTF8')), 'hex') end`;
}

/**
 * SQL for the Unix second before which a user's tokens count as revoked, comparable with the claim `iat`. 0 means
 * that no token is revoked.
 * @param user alias of app_user.
 */
export function tokensValidFromSql(user: string): string {
  return `coalesce(floor(extract(epoch from ${user}.tokens_valid_from)), 0)::float8`;
}
