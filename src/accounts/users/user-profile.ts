/** Reads a user's data for the user directory: names, email address and language. */
import type { DirectoryUser } from '../../identity/directory/user-directory.ts';
import type { Queryable } from '../../platform/database/database.ts';

/**
 * Reads a user for the user directory. Call it in the transaction that created the user or locked the row of the user.
 * @throws Error when the user does not exist.
 */
export async function getProfile(database: Queryable, userId: string): Promise<DirectoryUser> {
  const { rows } = await database.query<DirectoryUser>(
    `select id as "userId", user_name as "userName", email, first_name as "firstName", last_name as "lastName", language
     from app_user where id = $1`,
    [userId],
  );
  const [row] = rows;
  if (!row) throw new Error(`user ${userId} does not exist; create or lock the user in this transaction first`);
  return row;
}
