/** Ends what a user has open at the embedded issuer: browser sessions, and programs that refresh their tokens. */
import type { Queryable } from '../platform/database.ts';

/** Access tokens live on until they expire; whether they still work is decided by find-caller. */
export async function endSessions(database: Queryable, userId: string): Promise<void> {
  await database.query(`delete from oidc_payload where payload ->> 'accountId' = $1`, [userId]);
  await database.query('delete from token_grant where user_id = $1', [userId]);
}
