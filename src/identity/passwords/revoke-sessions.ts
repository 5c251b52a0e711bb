/**
 * Revokes a user's sessions at the embedded issuer (browser sessions and refresh tokens), and a user's access tokens.
 * `purgeExpired` deletes expired rows. The ingester imports this file for `purgeExpired` and must not load
 * oidc-provider, so this file must not import oidc-provider.
 */
import type { Queryable } from '../../platform/database/database.ts';

export interface KeptSession {
  /** oidc-provider's id of the interaction the user is in. */
  readonly interactionUid: string;
  readonly sessionUid: string | undefined;
}

/**
 * Deletes sessions, refresh tokens and grants. Does not revoke access tokens: `revokeAccessTokens` does that.
 * @param kept session that continues.
 */
export async function revokeSessions(database: Queryable, userId: string, kept?: KeptSession): Promise<void> {
  const isKept = `(model = 'Interaction' and id = $2) or (model = 'Session' and uid = $3)`;
  await database.query(
    `delete from oidc_payload where payload ->> 'accountId' = $1 and not coalesce(${isKept}, false)`,
    [userId, kept?.interactionUid ?? null, kept?.sessionUid ?? null],
  );
  // Deletes unfinished interactions in which the user has signed in, except the one with the id `kept.interactionUid`.
  await database.query(
    `delete from oidc_payload where model = 'Interaction' and payload #>> '{result,login,accountId}' = $1
       and id is distinct from $2`,
    [userId, kept?.interactionUid ?? null],
  );
  await database.query('delete from token_grant where user_id = $1', [userId]);
}

/** Makes find-caller.ts refuse the access tokens that were issued to the user before the current second (R-B5). */
export async function revokeAccessTokens(database: Queryable, userId: string): Promise<void> {
  await database.query('update app_user set tokens_valid_from = clock_timestamp() where id = $1', [userId]);
}

/** Deletes the expired payloads of oidc-provider and the expired token grants. @returns the number of deleted rows. */
export async function purgeExpired(database: Queryable): Promise<number> {
  const payloads = await database.query('delete from oidc_payload where expires_date <= now()');
  const grants = await database.query('delete from token_grant where expires_date <= now()');
  return (payloads.rowCount ?? 0) + (grants.rowCount ?? 0);
}
