import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { hashSecret } from '../../platform/secret-hash.ts';

export interface NewUser {
  /** User name; unique, ignoring case. */
  readonly userName: string;
  readonly password: string;
  readonly role: 'ADMIN' | 'MANAGER' | 'USER';
  /** Accounts the user becomes a member of; the first becomes the active one (R-B4). */
  readonly accountIds: readonly number[];
  readonly email?: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

/**
 * Creates a user with a password, in one statement. The user counts as the proven owner of the email address.
 * @returns the user's id.
 * @throws {DomainError} conflict when the name is taken.
 */
export async function createUser(database: Queryable, user: NewUser): Promise<string> {
  const { rows } = await database.query<{ id: string }>(
    `with made as (
       insert into app_user (user_name, email, proven_email, first_name, last_name, password_hash, role, active_account_id)
       values ($1, $2, $2, $3, $4, $5, $6, ($7::int[])[1]) on conflict (lower(user_name)) do nothing returning id
     ), joined as (
       insert into account_member (account_id, user_id) select unnest($7::int[]), id from made
     )
     select id from made`,
    [
      user.userName,
      user.email,
      user.firstName,
      user.lastName,
      await hashSecret(user.password),
      user.role,
      user.accountIds,
    ],
  );
  const [row] = rows;
  if (!row) throw new DomainError('conflict', takenText(user.userName));
  return row.id;
}

/** @returns the error text for a user name that another user has. */
export function takenText(userName: string): string {
  return `userName must be unique across all accounts, ignoring letter case; ${JSON.stringify(userName)} is taken`;
}

/** @returns the id of the user with this name, ignoring case; undefined when there is none. */
export async function findUserByName(database: Queryable, userName: string): Promise<string | undefined> {
  const { rows } = await database.query<{ id: string }>('select id from app_user where lower(user_name) = lower($1)', [
    userName,
  ]);
  return rows[0]?.id;
}
