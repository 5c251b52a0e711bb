/** The account each sign-in was for (R-B4). */
import type { Queryable } from '../../platform/database.ts';

interface TokenGrant {
  readonly grantId: string;
  readonly userId: string;
  readonly accountId: number;
  readonly ttlSec: number;
}

/** Remembers the account of a grant for as long as the grant lives. */
export async function writeTokenGrant(database: Queryable, grant: TokenGrant): Promise<void> {
  await database.query(
    `insert into token_grant (grant_id, user_id, account_id, expires_date)
     values ($1, $2, $3, now() + make_interval(secs => $4))`,
    [grant.grantId, grant.userId, grant.accountId, grant.ttlSec],
  );
}

/** The account of a live grant; undefined when it ended or was never made. */
export async function findGrantAccount(database: Queryable, grantId: string): Promise<number | undefined> {
  const { rows } = await database.query<{ account_id: number }>(
    'select account_id from token_grant where grant_id = $1 and expires_date > now()',
    [grantId],
  );
  return rows[0]?.account_id;
}
