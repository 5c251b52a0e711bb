import type { Queryable } from '../../platform/database/database.ts';

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
