/** What the directory is told of a user. */
import type { DirectoryUser } from '../../identity/directory/user-directory.ts';
import type { Queryable } from '../../platform/database/database.ts';

/** @throws Error when the user is not there: call it within the transaction that made or locked them. */
export async function getProfile(database: Queryable, userId: string): Promise<DirectoryUser> {
  const { rows } = await database.query<DirectoryUser>(
    `select id as "userId", user_name as "userName", email, first_name as "firstName", last_name as "lastName", language
     from app_user where id = $1`,
    [userId],
  );
  const [row] = rows;
  if (!row) throw new Error(`user ${userId} is gone within its own transaction`);
  return row;
}
