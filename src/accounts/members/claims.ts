/** Claims of a user in one account (§4.2, §5). A claim is identified by its type; its id is always 0 (R-C3). */
import type { Queryable } from '../../platform/database/database.ts';
import type { WrittenClaim } from '../field-schemas.ts';

export interface ClaimOfUser {
  readonly id: 0;
  readonly userId: string;
  readonly claimType: string;
  readonly claimValue: string;
}

interface ClaimKey {
  readonly claimType: string;
}

/** Lists the claims of a user in an account, sorted by type (§4.2). */
export async function listClaims(
  database: Queryable,
  accountId: number,
  userId: string,
): Promise<readonly ClaimOfUser[]> {
  const { rows } = await database.query<ClaimOfUser>(
    `select 0 as id, user_id as "userId", claim_type as "claimType", claim_value as "claimValue"
     from user_claim where account_id = $1 and user_id = $2 order by claim_type`,
    [accountId, userId],
  );
  return rows;
}

/**
 * Adds claims or replaces their values (§4.2). The user must be a member. The last of several claims of a type wins.
 */
export async function writeClaims(
  database: Queryable,
  accountId: number,
  userId: string,
  claims: readonly Pick<WrittenClaim, 'claimType' | 'claimValue'>[],
): Promise<void> {
  const values = new Map(claims.map(({ claimType, claimValue }) => [claimType, claimValue]));
  await database.query(
    `insert into user_claim (account_id, user_id, claim_type, claim_value)
     select $1, $2, * from unnest($3::text[], $4::text[])
     on conflict (account_id, user_id, claim_type) do update set claim_value = excluded.claim_value`,
    [accountId, userId, [...values.keys()], [...values.values()]],
  );
}

/** Removes claims by type (§4.2). @returns the removed claims. */
export async function removeClaims(
  database: Queryable,
  accountId: number,
  userId: string,
  keys: readonly ClaimKey[],
): Promise<readonly ClaimOfUser[]> {
  const { rows } = await database.query<ClaimOfUser>(
    `delete from user_claim where account_id = $1 and user_id = $2 and claim_type = any($3)
     returning 0 as id, user_id as "userId", claim_type as "claimType", claim_value as "claimValue"`,
    [accountId, userId, keys.map(({ claimType }) => claimType)],
  );
  return rows;
}

/** Replaces all claims of the user in the account (§4.2). */
export async function replaceClaims(
  database: Queryable,
  accountId: number,
  userId: string,
  claims: readonly WrittenClaim[],
): Promise<void> {
  await database.query('delete from user_claim where account_id = $1 and user_id = $2 and not claim_type = any($3)', [
    accountId,
    userId,
    claims.map(({ claimType }) => claimType),
  ]);
  await writeClaims(database, accountId, userId, claims);
}

export interface UserClaim {
  readonly accountId: number;
  readonly userId: string;
  /** Key of the claim; for a permission, the name of the permission, such as `datapusher.standard` (R-B8). */
  readonly claimType: string;
  /** Value of the claim; default "true". The value "false" denies a permission. */
  readonly claimValue?: string;
}

/** Adds one claim or replaces its value (§4.2). The user must be a member of the account. */
export async function addClaim(database: Queryable, claim: UserClaim): Promise<void> {
  await database.query(
    `insert into user_claim (account_id, user_id, claim_type, claim_value) values ($1, $2, $3, $4)
     on conflict (account_id, user_id, claim_type) do update set claim_value = excluded.claim_value`,
    [claim.accountId, claim.userId, claim.claimType, claim.claimValue ?? 'true'],
  );
}
