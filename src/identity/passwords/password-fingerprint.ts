/** What tells that a password has changed, without saying anything of it. */
import { createHash } from 'node:crypto';

/** @param hash as stored: salted, so that the same password chosen again has another mark. */
export function passwordFingerprint(hash: string): string {
  return createHash('sha256').update(hash).digest('hex');
}

/** The same mark in SQL, of a row of app_user; null where there is none, or only a temporary one. */
export function passwordFingerprintSql(user: string): string {
  return `case when not ${user}.must_change_password
               then encode(sha256(convert_to(${user}.password_hash, 'UTF8')), 'hex') end`;
}

/** Seconds, as whole ones like the claim `iat`; tokens of before are void. 0: none is. */
export function tokensValidFromSql(user: string): string {
  return `coalesce(floor(extract(epoch from ${user}.tokens_valid_from)), 0)::float8`;
}
