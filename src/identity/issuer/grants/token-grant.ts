/** Stores the account of each grant, so that a refreshed token has the same account (R-B4). */
import type { Queryable } from '../../../platform/database/database.ts';
import { passwordFingerprintSql } from '../../passwords/password-fingerprint.ts';

interface TokenGrant {
  readonly grantId: string;
  readonly userId: string;
  readonly accountId: number;
  readonly ttlSec: number;
  /**
   * Fingerprint of the password that the user signed in with. `writeTokenGrant` checks that the user's password still
   * has this fingerprint. If the fingerprint is undefined, `writeTokenGrant` does not make this check.
   */
  readonly passwordFingerprint?: string;
}

/**
 * Stores the account of a grant for the grant's lifetime (R-B4).
 * @returns false, without storing anything, when the user was deleted, or when the user's password no longer has the
 * fingerprint in `grant`.
 */
export async function writeTokenGrant(database: Queryable, grant: TokenGrant): Promise<boolean> {
  const { rowCount } = await database.query(
    `insert into token_grant (grant_id, user_id, account_id, expires_date)
     select $1, u.id, $3, now() + make_interval(secs => $4) from app_user u
     where u.id = $2 and ($5::text is null or $5 = ${passwordFingerprintSql('u')})
     for share of u`,
    [grant.grantId, grant.userId, grant.accountId, grant.ttlSec, grant.passwordFingerprint ?? null],
  );
  return rowCount === 1;
}

/** @returns the account of a grant; undefined when the grant expired, was revoked or never existed (R-B4). */
export async function findGrantAccount(database: Queryable, grantId: string): Promise<number | undefined> {
  const { rows } = await database.query<{ account_id: number }>(
    'select account_id from token_grant where grant_id = $1 and expires_date > now()',
    [grantId],
  );
  return rows[0]?.account_id;
}
