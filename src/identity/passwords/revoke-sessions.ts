/** Ends what a user has open at the embedded issuer: browser sessions, and programs that refresh their tokens. */
import type { Queryable } from '../../platform/database/database.ts';

export interface KeptSession {
  /** Identifiers of oidc-provider: where the user is right now. */
  readonly interactionUid: string;
  readonly sessionUid: string | undefined;
}

/** Access tokens live on until they expire; whether they still work is decided by find-caller. @param kept stays open. */
export async function revokeSessions(database: Queryable, userId: string, kept?: KeptSession): Promise<void> {
  const isKept = `(model = 'Interaction' and id = $2) or (model = 'Session' and uid = $3)`;
  await database.query(
    `delete from oidc_payload where payload ->> 'accountId' = $1 and not coalesce(${isKept}, false)`,
    [userId, kept?.interactionUid ?? null, kept?.sessionUid ?? null],
  );
  // Somebody who has just signed in on a page and not yet gone on.
  await database.query(
    `delete from oidc_payload where model = 'Interaction' and payload #>> '{result,login,accountId}' = $1
       and id is distinct from $2`,
    [userId, kept?.interactionUid ?? null],
  );
  await database.query('delete from token_grant where user_id = $1', [userId]);
}
