/** OpenID Connect claims of a user, for userinfo and ID tokens. */
import type { Queryable } from '../../platform/database/database.ts';

/** Profile claims of a user; claims without a value are absent. */
export interface Profile {
  readonly sub: string;
  readonly preferred_username: string;
  readonly name?: string;
  readonly given_name?: string;
  readonly family_name?: string;
  readonly nickname?: string;
  readonly email?: string;
  readonly locale: string;
  readonly roles: readonly string[];
}

interface ProfileRow {
  readonly sub: string;
  readonly preferred_username: string;
  readonly given_name: string | null;
  readonly family_name: string | null;
  readonly nickname: string | null;
  readonly email: string | null;
  readonly locale: string;
  readonly role: string;
}

/** @returns undefined for a user who does not exist or is locked at `now`. */
export async function findProfile(database: Queryable, userId: string, now: Date): Promise<Profile | undefined> {
  const { rows } = await database.query<ProfileRow>(
    `select id as sub, user_name as preferred_username, first_name as given_name, last_name as family_name,
       pseudo as nickname, email, language as locale, role
     from app_user where id = $1 and not (is_locked and coalesce(locked_until > $2, true))`,
    [userId, now],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { role, ...claims } = row;
  const name = [row.given_name, row.family_name].filter(Boolean).join(' ') || null;
  const given = Object.entries({ ...claims, name }).filter(([, value]) => value !== null && value !== '');
  return { ...(Object.fromEntries(given) as unknown as Profile), roles: [role] };
}
