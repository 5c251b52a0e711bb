/** Claims of a member in one account (§4.2, §5): the type is the key, the id is always 0 (R-C3). */
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

/** Adds claims, or gives them another value. The user must be a member. Of two of a type the last counts. */
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

/** Removes claims by their type. @returns those that were there. */
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

/** Makes these the only claims of the user in the account. */
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
  /** The key; a permission such as `datapusher.standard` is its own type (R-B8). */
  readonly claimType: string;
  /** "false" denies a permission; default "true". */
  readonly claimValue?: string;
}

/** Gives a member a claim in an account, replacing the value of the same type. The user must be a member. */
export async function addClaim(database: Queryable, claim: UserClaim): Promise<void> {
  await database.query(
    `insert into user_claim (account_id, user_id, claim_type, claim_value) values ($1, $2, $3, $4)
     on conflict (account_id, user_id, claim_type) do update set claim_value = excluded.claim_value`,
    [claim.accountId, claim.userId, claim.claimType, claim.claimValue ?? 'true'],
  );
}
